"""A record names its parent only where the box knows that records of the one kind belong to those of the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from b24migrate.errors import Permanent
from b24migrate.messages import say
from b24migrate.records import Args, Item, Json
from b24migrate.target.rest.box import Box, inside

FIRST_SMART_TYPE = 128


def related(box: Box, number: str, items: Sequence[Item]) -> None:
    """Makes the relations that these records need and the box does not have yet."""
    for parent in sorted({name.removeprefix("parentId") for item in items for name in item.fields if _is_parent(name)}):
        box.kept(f"{parent} above {number}", lambda parent=parent: _relate(box, parent, number), 3600.0)  # type: ignore[misc]


def _is_parent(name: str) -> bool:
    return name.startswith("parentId") and name.removeprefix("parentId").isdecimal()


def _relate(box: Box, parent: str, child: str) -> bool:
    """One of the two is a smart process, which tells and takes its relations."""
    smart, side, other = (child, "parent", parent) if int(child) >= FIRST_SMART_TYPE else (parent, "child", child)
    about = _type(box, smart)
    relations = about.get("relations") or {"parent": [], "child": []}
    if any(str(one.get("entityTypeId")) == other for one in inside(relations, side)):
        return True
    wanted = {name: [_spelled(one) for one in inside(relations, name)] for name in ("parent", "child")}
    wanted[side].append({"entityTypeId": other, "isChildrenListEnabled": "true"})
    box.call("crm.type.update", {"id": about["id"], "fields": {"relations": wanted}})
    return True


def _type(box: Box, number: str) -> Mapping[str, Json]:
    """With its relations, which the list does not tell."""
    for row in box.pages("crm.type.list", {"filter": {"entityTypeId": number}}, "types"):
        if str(row["entityTypeId"]) == number:
            about: Mapping[str, Json] = box.question("crm.type.get", {"id": row["id"]})["type"]
            return about
    raise Permanent(say("target.no_smart_process", number=number), code="TYPE_NOT_FOUND")


def _spelled(one: Args) -> Args:
    """Inside relations flags are the words true and false."""
    return {
        "entityTypeId": one["entityTypeId"],
        "isChildrenListEnabled": str(one.get("isChildrenListEnabled") == "Y").lower(),
    }
