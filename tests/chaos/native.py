"""The proof for a box without the module, which has no keys: its own ledger of created records is compared with the
links in the store, with the source, and with verify and the certificate."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from tests.chaos.kills import Migration
from tests.chaos.oracle import Ids, Json, Source, expected, failures
from tests.chaos.oracle import key as key_of
from tests.chaos.oracle.fate import orphans
from tests.chaos.oracle.source import SALES, TIMELINE
from tests.chaos.portals import Portal
from tests.chaos.proof import EXTRA, LATER, MISSING, STREAMS, Compared, Difference, Proof, accounts

CERTIFICATE = "certificate.jsonl"
NOWHERE = "none"  # of what the box had said that it does not keep
# REST offers no way to write these without mails, robots and today's date (docs/rest-target.md).
UNTAKEN = frozenset({*SALES, "crm_recurring", *TIMELINE})
CRM = ("crm_companies", "crm_contacts", "crm_deals", "crm_spitems")
# Their names in the box's ledger. Folders of files and chats of groups have no counterpart.
KINDS: Mapping[str, Sequence[str]] = {
    **{name: (name,) for name in ("departments", "users", "groups", "group_members", "chats", "tasks", "files")},
    "messages": ("chat_messages",),
    "posts": ("feed_posts",),
    "comments": ("feed_comments",),
    "checklists": ("task_checklists",),
    "task_comments": ("task_comments",),
    "templates": ("workflow_templates",),
    "types": ("crm_types",),
    "categories": ("crm_categories",),
    "statuses": ("crm_stages",),
    "items": CRM,
    **{name: (f"crm_{name}",) for name in ("requisite_presets", "requisites", "bank_details")},
    **{name: (f"crm_{name}",) for name in ("currencies", "measures", "vats", "price_types", "products", "prices")},
    "sections": ("crm_catalog_sections",),
    "properties": ("crm_product_props",),
}
# Of these the book knows a stamp of its own for every record; the others say the same when their source says it twice.
STAMPED = frozenset(KINDS) - {"comments", "checklists", "task_comments"} | {"fields", "folders"}
DRAFT = ":b24migrate"  # how the stamp of a chat ends that only shows how the box takes dates, and of its message
CALLED = {"types": "entityTypeId", "comments": "comment_id"}  # by what links name them, if not by their ids


class Link(NamedTuple):
    """One id of the source, and the box's that stands for it."""

    stream: str
    source_id: str
    target_id: str

    @property
    def key(self) -> str:
        return f"source:file:{self.source_id}" if self.stream == "files" else key_of(self.stream, self.source_id)


def book(box: Portal) -> Json:
    """All that was ever written by the box's own methods, how often, and as it stands now."""
    return box.look("native")["records"]


def prove(source: Source, box: Portal, migration: Migration, status: Json) -> Proof:
    proof = Proof()
    made, bad = book(box), failures(source)
    proof.complain(_certified(migration))
    migration.report()
    links = _links(migration)
    held = {stream: [_row(one) for one in links if one.stream == stream] for stream in (*STREAMS, *LATER)}
    proof.records = {stream: len(rows) for stream, rows in held.items()}
    proof.updated = sum(one["updates"] for one in made)
    proof.failed = {stream: len(found - source.linked.keys()) for stream, found in bad.items() if found}
    ids = Ids(source, held, box.webhook.partition("/rest/")[0], {owner: [] for owner in source.custom})
    wanted = expected(source, ids)
    linked: dict[str, Json] = {key_of("users", one): {} for one in source.linked}
    proof.complain(_arrivals(wanted | {"users": wanted["users"] | linked}, links))
    proof.complain(_doubles(made, links))
    proof.complain(_order(links))
    rightly = orphans(source, bad)
    proof.complain(_findings(migration.table("findings"), rightly))
    proof.complain(_untold(migration))
    proof.complain(accounts(source, wanted, proof.failed, status, {"crm_spitems": len(rightly)}))
    return proof


def compare_box(source: Source, box: Portal, migration: Migration) -> Compared:
    """The same for a company that keeps changing: deleted records are not counted, and values are not compared."""
    links, bad = _links(migration), failures(source)
    held = {stream: [_row(one) for one in links if one.stream == stream] for stream in (*STREAMS, *LATER)}
    ids = Ids(source, held, box.webhook.partition("/rest/")[0], {owner: [] for owner in source.custom})
    wanted = expected(source, ids)
    found: list[Difference] = []
    for stream in (*STREAMS, *LATER):
        there = {one.key for one in links if one.stream == stream}
        linked = {key_of("users", one) for one in source.linked} if stream == "users" else set()
        found += (Difference(stream, key, MISSING) for key in sorted(wanted[stream].keys() - there))
        found += (Difference(stream, key, EXTRA) for key in sorted(there - wanted[stream].keys() - linked))
    living = [one for one in book(box) if not one["deleted"]]
    found += (Difference("", "", one) for one in (*_doubles(living, links), *_order(links)))
    rightly = orphans(source, bad)
    for row in migration.table("findings"):
        nobody = row["fate"] == "dangling" and row["expected"] in bad["users"]  # a user who cannot be imported
        if (row["source_id"], row["expected"]) not in rightly and not nobody:
            what = " ".join(f"{name}={value[:120]!r}" for name, value in row.items() if value)
            key = key_of(row["stream"], row["source_id"])
            found.append(Difference(row["stream"], key, f"verify found {what}", row["field"]))
    return Compared(wanted, found)


def edit(box: Portal, stream: str, number: str, text: str) -> None:
    """Somebody changes a record by hand."""
    calls = {
        "groups": ("sonet_group.update", {"GROUP_ID": number, "NAME": text}),
        "crm_deals": ("crm.item.update", {"entityTypeId": 2, "id": number, "fields": {"title": text}}),
        "tasks": ("tasks.task.update", {"taskId": number, "fields": {"TITLE": text}}),
    }
    if stream in calls:
        box.call(*calls[stream])
        return
    kinds = ("product", "product.sku", "product.offer", "product.service")  # each has a method of its own
    assert any(box.ask(f"catalog.{one}.update", {"id": number, "fields": {"name": text}}) for one in kinds)


def _certified(migration: Migration) -> Iterator[str]:
    for command in (("certificate", "--out", CERTIFICATE), ("certificate", "check", CERTIFICATE)):
        code = migration.finish(*command)
        if code != 0:
            yield f"{' '.join(command)} ended with {code}: {migration.last_words()[-300:]}"
            return


def _links(migration: Migration) -> list[Link]:
    links = migration.table("links")
    return [Link(*(one[name] for name in Link._fields)) for one in links if one["stream"] in (*STREAMS, *LATER)]


def _row(link: Link) -> Json:
    return {"key": link.key, "id": link.target_id, "fields": {"STATUS_ID": None}}


def _arrivals(wanted: Mapping[str, Mapping[str, Json]], links: Sequence[Link]) -> Iterator[str]:
    """Exactly the expected records arrived."""
    for stream in (*STREAMS, *LATER):
        there = {one.key for one in links if one.stream == stream}
        yield from (f"{stream}: {key} did not arrive" for key in sorted(wanted[stream].keys() - there))
        yield from (f"{stream}: {key} arrived and should not have" for key in sorted(there - wanted[stream].keys()))


def _findings(findings: Sequence[Mapping[str, str]], rightly: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Verify, which looked at every record, found what was announced, and those who arrived without a parent."""
    for one in findings:
        if (one["source_id"], one["expected"]) not in rightly:
            yield "verify found " + " ".join(f"{name}={value[:120]!r}" for name, value in one.items() if value)


def _untold(migration: Migration) -> Iterator[str]:
    """Records that the box does not accept are on the fidelity list, and none of them was written."""
    told = {row["stream"] for row in migration.table("fidelity") if row["keeping"] == "lost" and not row["field"]}
    yield from (f"{stream}: the fidelity list does not say that it is lost" for stream in sorted(UNTAKEN - told))


def _doubles(made: Json, links: Sequence[Link]) -> Iterator[str]:
    """Every record that was ever made stands for one id of the source, and no two for the same."""
    there = [one for one in links if one.stream != "crm_categories" and one.target_id != NOWHERE]
    targets = Counter((one.stream, one.target_id) for one in there)
    yield from (f"{stream}: two ids stand for {target}" for (stream, target), often in targets.items() if often > 1)
    known: dict[str, set[str]] = defaultdict(set)
    for one in links:
        known[one.stream].add(one.target_id)
    for one in made:
        streams = KINDS.get(one["kind"], ())
        name = str((one["fields"] or {}).get(CALLED.get(one["kind"], ""), one["id"]))
        if one["stamp"].endswith(DRAFT) or _is_further_file(one):
            continue
        if one["deleted"]:
            yield f"{one['kind']} {one['stamp']}: made, and deleted again"
        elif streams and not any(name in known[stream] for stream in streams):
            yield f"{one['kind']} {one['stamp']}: {name} is on the box, and stands for nothing"
    known_once = [one for one in made if one["kind"] in STAMPED and not one["stamp"].endswith(DRAFT)]
    repeated = {(one["kind"], one["stamp"]): one["made"] for one in known_once if one["made"] > 1}
    yield from (f"{kind} {stamp}: made {often} times" for (kind, stamp), often in repeated.items())


def _is_further_file(one: Json) -> bool:
    """An imported message has one file; the others of it follow in messages without words."""
    fields = one["fields"] or {}
    return one["kind"] == "messages" and not fields.get("text") and "FILE_ID" in (fields.get("params") or {})


def _order(links: Sequence[Link]) -> Iterator[str]:
    """Messages of a chat stand one behind the other as on the source."""
    chats: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for one in links:
        if one.stream == "chat_messages":
            chat, _, number = one.source_id.rpartition(":")
            chats[chat].append((int(number), int(one.target_id)))
    for chat, pairs in chats.items():
        for (elder, before), (younger, behind) in pairwise(sorted(pairs)):
            if before > behind:
                yield f"chat_messages: {chat}:{younger} stands before {chat}:{elder}, which is older"
