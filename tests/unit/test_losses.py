"""What records went without, told in sentences."""

from __future__ import annotations

import re

from b24migrate.entities import catalog
from b24migrate.hosts.report.sayings import Sayings
from b24migrate.hosts.words import words
from b24migrate.pipeline.losses import WORDS, sentences


def test_one_is_told_as_one_and_many_as_many() -> None:
    groups = next(one for one in catalog().entities if one.name == "groups")
    one = {f"{name}:groups": 1.0 for name in WORDS}
    many = {f"{name}:group_members": 1200.0 for name in WORDS}
    alone, several = sentences(groups, one | many, {"groups": 1, "group_members": 1200})
    assert alone.startswith(
        "1 record stays behind, as the target had announced; the placeholder stands for a person once;"
    )
    assert "1 reference to what the target does not have was dropped; 1 id in a text stays as it was;" in alone
    assert alone.endswith("1 place keeps an id of the source (`b24migrate places`)")
    assert several.startswith("group_members: 1,200 records stay behind")
    assert several.count("1,200") == len(WORDS) + 1


def test_they_are_told_in_russian_as_well() -> None:
    groups = next(one for one in catalog().entities if one.name == "groups")
    for count in (1, 1200):
        said = sentences(groups, {f"{name}:groups": float(count) for name in WORDS}, {"groups": count})
        retold = str(Sayings(words("ru"))(next(said))).replace("`b24migrate places`", "")
        assert re.findall(r"[a-z]{3,}", retold) == []
        assert retold.count(f"{count:,}") == len(WORDS) + 1
