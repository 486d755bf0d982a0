"""Workgroups, projects and scrum teams, and who belongs to them."""

from dataclasses import dataclass, field

from b24sim.company import names
from b24sim.company.chance import chance
from b24sim.company.people import People, is_active, is_extranet
from b24sim.company.plan import ANCHOR, DAY, members_of
from b24sim.table import Row

OWNER, MODERATOR, MEMBER = "A", "E", "K"


@dataclass(slots=True)
class Group:
    """A workgroup with all its members, the dismissed included; `chat` is 0 where it has none."""

    id: int
    place: int
    owner: int
    kind: str
    roles: dict[int, str]
    chat: int = 0
    extra: Row = field(default_factory=dict)

    @property
    def secret(self) -> bool:
        return self.place % 6 == 4

    @property
    def extranet(self) -> bool:
        return self.place % 10 == 7

    @property
    def has_image(self) -> bool:
        return self.place % 4 == 1


def grow_groups(people: People) -> list[Group]:
    staff = people.healthy
    dismissed = [number for number in staff if not is_active(people, number)]
    groups = []
    for place, size in enumerate(members_of(people.plan.groups, len(staff))):
        luck = chance(people.plan.seed, "group", place)
        owner = dismissed[luck % len(dismissed)] if dismissed and place % 9 == 5 else staff[luck % len(staff)]
        roles = {owner: OWNER}
        step = luck % len(staff)
        while len(roles) < min(size, len(staff)):
            step = (step + 1) % len(staff)
            roles.setdefault(staff[step], MODERATOR if len(roles) % 5 == 2 else MEMBER)
        groups.append(Group(2 + place * 3 + luck % 2, place, owner, _kind(place), roles))
    return groups


def _kind(place: int) -> str:
    if place % 11 == 9:
        return "scrum"
    return "project" if place % 3 == 2 else "group"


def group_row(people: People, group: Group, portal_url: str) -> Row:
    """A row of `sonet_group.get`; keys with an underscore serve filters and the newer methods."""
    luck = chance(people.plan.seed, "group row", group.place)
    moments = people.moments
    created = ANCHOR - (100 + luck % 900) * DAY
    active_at = ANCHOR - luck % (60 * DAY)
    row: Row = {
        "ID": str(group.id),
        "SITE_ID": "co" if group.extranet else "s1",
        "NAME": f"{names.GROUPS[group.place % len(names.GROUPS)]} {group.place}",
        "DESCRIPTION": None if luck % 4 == 0 else f"Описание\r\nгруппы №{group.place} <i>&</i>",
        "DATE_CREATE": moments.iso(created),
        "DATE_UPDATE": moments.iso(max(created, active_at - DAY)),
        "ACTIVE": "Y",
        "VISIBLE": "N" if group.secret else "Y",
        "OPENED": "Y" if luck % 3 == 0 and not group.secret else "N",
        "CLOSED": "Y" if group.place % 8 == 6 else "N",
        "SUBJECT_ID": "1",
        "OWNER_ID": str(group.owner),
        "KEYWORDS": "альфа, beta" if luck % 2 else "",
        "NUMBER_OF_MEMBERS": str(len(group.roles)),
        "DATE_ACTIVITY": moments.iso(active_at),
        "SUBJECT_NAME": "Рабочие группы",
        "PROJECT": "N" if group.kind == "group" else "Y",
    }
    if group.has_image:
        row["IMAGE"] = f"{portal_url}/upload/sonet/{group.id}/g.png"
    row["IS_EXTRANET"] = "Y" if group.extranet else "N"
    return row | _hidden(people, group, created) | group.extra


def _hidden(people: People, group: Group, created: float) -> Row:
    planned = group.kind != "group"
    moderators = sum(role == MODERATOR for role in group.roles.values())
    return {
        "_TYPE": group.kind,
        "_PROJECT_DATE_START": people.moments.iso(created) if planned else None,
        "_PROJECT_DATE_FINISH": people.moments.iso(created + 90 * DAY) if planned else None,
        "_SCRUM_MASTER_ID": str(group.owner if group.kind == "scrum" else 0),
        "_INITIATE_PERMS": "K",
        "_NUMBER_OF_MODERATORS": str(moderators),
        "_LANDING": "N",
    }


def extranet_members(people: People, group: Group) -> list[int]:
    return [number for number in group.roles if is_extranet(people, number)]
