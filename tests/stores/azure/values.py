"""Extreme IDs and values of portals, for property-based tests."""

from __future__ import annotations

import hypothesis.strategies as st

from b24migrate.stores.azure.limits import TEXT_UNITS
from b24migrate.stores.azure.properties import content_name

# Every code point, also halves of surrogate pairs, and more often those with special treatment.
odd = st.sampled_from(
    list("/\\#?'%$!~:+& \x00\t\n\x7f\x9f\u00a0\ud7ff\ud800\udfff\ue000\ufeff\ufffe\uffff\U00010000\U0010ffff")
)
characters = st.one_of(odd, st.characters(exclude_categories=[]), st.sampled_from("019azAZж"))
texts = st.text(characters, max_size=30)
ids = st.one_of(texts, st.builds(lambda one, times: (one or "я") * times, texts, st.integers(1, 300)))

numbers = st.one_of(
    st.integers(),
    st.sampled_from([0, -1, 2**31 - 1, 2**31, -(2**31) - 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**40]),
    st.floats(allow_nan=False, allow_infinity=False),
)
plain = st.one_of(st.none(), st.booleans(), numbers, texts)
values = st.recursive(
    plain,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)

# Lengths around the limits, of characters that take one byte or six on the way, and one unit or two where they are kept.
lengths = st.one_of(
    st.integers(0, 300),
    st.integers(TEXT_UNITS - 2, TEXT_UNITS + 2),
    st.integers(TEXT_UNITS // 2 - 2, TEXT_UNITS // 2 + 2),
    st.integers(0, 200_000),
)
long_texts = st.builds(
    lambda one, length: one * length, st.sampled_from(["a", '"', "ж", "\x01", "\U0001f600", "\ud800"]), lengths
)


class Shelf(dict[str, bytes]):
    """The storage of large values in tests that need no Azurite."""

    def put(self, content: bytes) -> str:
        self[content_name(content)] = content
        return content_name(content)

    def get(self, name: str) -> bytes:  # type: ignore[override]
        return self[name]
