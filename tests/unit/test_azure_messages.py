"""Messages fit the service's limits whatever they tell, and are read back as they were meant."""

from __future__ import annotations

import json
from xml.sax.saxutils import escape

import hypothesis.strategies as st
from hypothesis import example, given, settings

from b24migrate.stores.azure.limits import MESSAGE_BYTES
from b24migrate.stores.azure.messages import dead_letter_text, order, ordered

texts = st.text(max_size=300)
long_texts = st.builds(lambda text, times: text * times, texts, st.integers(0, 500))


@given(texts)
def test_an_order_names_its_job(job_id: str) -> None:
    written = order(job_id)
    assert len(escape(written).encode()) <= MESSAGE_BYTES
    if job_id.isprintable():
        assert ordered(written) == job_id


@settings(deadline=None)
@given(texts, texts, texts, long_texts)
@example("a", "b", "c", "<&>" * 9_999)
@example("a", "b", "c", "\ud800\x00\uffff\n" * 9_999)
def test_an_obituary_is_cut_to_what_a_message_may_be(job_id: str, scope: str, code: str, reason: str) -> None:
    written = dead_letter_text(job_id, scope, code, reason)
    assert len(escape(written).encode()) <= MESSAGE_BYTES
    data = json.loads(written)
    assert set(data) == {"job", "scope", "code", "reason"}
    if len(escape(json.dumps(reason)).encode()) < MESSAGE_BYTES // 4 and reason.isprintable():
        assert data["reason"] == reason


@given(st.text() | st.none() | st.integers())
def test_what_is_no_order_names_nothing(content: object) -> None:
    assert ordered(content) is None or '"job"' in str(content)
