"""What records went without, told in sentences."""

from __future__ import annotations

import re

from b24migrate.entities import catalog
from b24migrate.insight.losses import LOSSES, sentences
from b24migrate.messages import NARROW_SPACE, render


def test_one_is_told_as_one_and_many_as_many() -> None:
    groups = next(one for one in catalog().entities if one.name == "groups")
    one = {f"{name}:groups": 1.0 for name in LOSSES}
    many = {f"{name}:group_members": 1200.0 for name in LOSSES}
    alone, several = sentences(groups, one | many, {"groups": 1, "group_members": 1200})
    assert alone.startswith("1 record not migrated: see `b24migrate fidelity`; 1 reference to a deleted user points")
    assert "1 link dropped: the linked record was not migrated; 1 ID in a text still points to the source;" in alone
    assert alone.endswith("1 source ID left in templates: see `b24migrate places`")
    assert several.startswith("group_members: 1,200 records not migrated")
    assert several.count("1,200") == len(LOSSES) + 1


def test_they_are_told_in_russian_as_well() -> None:
    groups = next(one for one in catalog().entities if one.name == "groups")
    for count in (1, 2, 1200):
        sentence = next(sentences(groups, {f"{name}:groups": float(count) for name in LOSSES}, {"groups": count}))
        russian = re.sub("`[^`]*`", "", render(sentence, "ru")).replace(NARROW_SPACE, "")
        assert re.findall(r"[a-z]{3,}", russian) == []
        assert russian.count(f"{count} ") == len(LOSSES) + 1
    one, few, many = (render(next(sentences(groups, {"files_dropped:groups": n}, {})), "ru") for n in (1.0, 2.0, 5.0))
    assert (one, few, many) == ("1 файл не перенесён", "2 файла не перенесены", "5 файлов не перенесено")
