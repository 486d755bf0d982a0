"""A few fields seen without decoding the rest are what decoding all would show."""

from __future__ import annotations

from dataclasses import replace

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from b24migrate.engine.phases.payload import decode_columns
from b24migrate.model.records import Json, Table
from b24migrate.model.streams import Listing, Offset, Stream

PLAIN = Stream(name="ones", table=Table("Ones", "ones"), read=(Listing("one.get", Offset()),), fields=())
GLANCED = replace(PLAIN, stamp="AT", natural="MAIL", files=lambda _: (), peek=("PHOTO", "KIND"))

values = st.none() | st.text(max_size=3) | st.integers(0, 9) | st.just({"AT": "inside", "PHOTO": "inside"})
payloads = st.lists(st.dictionaries(st.sampled_from(["AT", "MAIL", "PHOTO", "KIND", "OTHER", ""]), values), max_size=4)


@given(payloads)
def test_a_glance_sees_what_a_thorough_look_does(sent: list[dict[str, Json]]) -> None:
    raw = [msgspec.json.encode(one) for one in sent]
    few, all_ = decode_columns(GLANCED, raw), decode_columns(replace(GLANCED, hashed=True), raw)
    assert few.stamps == all_.stamps
    assert few.naturals == all_.naturals
    for glanced, whole in zip(few.shown, all_.shown, strict=True):
        for name in GLANCED.peek:
            assert (glanced or {}).get(name) == (whole or {}).get(name)


def test_a_record_with_none_of_the_fields_is_not_shown() -> None:
    assert decode_columns(GLANCED, [b'{"OTHER":1,"AT":"x"}', b'{"KIND":"X"}']).shown == [
        None,
        {"PHOTO": None, "KIND": "X"},
    ]


def test_a_stream_whose_files_need_everything_is_decoded_as_a_whole() -> None:
    assert decode_columns(replace(PLAIN, files=lambda _: ()), [b'{"A":[1]}']).shown == [{"A": [1]}]


def test_where_no_field_is_of_interest_an_unnamed_one_is_not_taken_for_it() -> None:
    looked = decode_columns(PLAIN, [b'{"":"2024-01-01"}'])
    assert (looked.stamps, looked.naturals) == ([None], [None])
