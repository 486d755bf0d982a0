"""The ledger of the source after each pass and of later changes on both sides: records that the box may lack, that must
be listed as deleted, and as conflicts."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from tests.chaos.oracle import Fields, Json, Source
from tests.chaos.oracle import key as key_of
from tests.chaos.oracle.fate import failures
from tests.chaos.portals import Portal
from tests.chaos.proof import EXTRA, Compared, Difference

from b24migrate.entities import catalog

STREAMS = catalog().streams
# By the word of `mutate` for a change that no date tells: the sentences of `Stream.unseen` that explain why a delta pass
# may miss it. What has none here, or of whose stream the sentence is not told, must arrive.
EXPLAINED = {
    "bound_from_company": ("delta.unseen.crm_links",),
    "rows_same_sum": ("delta.unseen.product_rows",),
    "checklist": ("delta.unseen.checklists",),
    "comment_edited": ("delta.unseen.comments",),
    "comment_in_chat": ("delta.unseen.comments",),
    "message_edited": ("delta.unseen.comments", "delta.unseen.chat_messages"),
    "message_deleted": ("delta.unseen.comments", "delta.unseen.chat_messages"),
    "reaction": ("delta.unseen.chat_messages",),
    "product_values": ("delta.unseen.product_values",),
    "participant_swapped": ("delta.unseen.chat_people",),
    "activity_bound": ("delta.unseen.bindings",),
    "call_changed": ("delta.unseen.calls",),
}
FRESH = timedelta(days=2)  # messages up to this age are always read again; the product promises three days
LOOKED_INTO = ("task_checklists", "task_comments")  # by `sync --deep`, of tasks that are not closed
CLOSED = "5"
EDITED_A_DAY = 2  # of each stream, of those that changed at the source and of others
Id = tuple[str, str]  # stream and id of the source
Ids = dict[str, set[str]]
Wanted = Mapping[str, Mapping[str, Fields]]


def by_stream() -> Ids:
    return defaultdict(set)


@dataclass
class Ledger:
    moves: str = "nothing"  # effect of a message in a task's chat on the list of tasks
    known: Ids = field(default_factory=by_stream)  # shown to a pass that ended
    created: Ids = field(default_factory=by_stream)
    unseen: set[Id] = field(default_factory=set)  # changed in a way that a delta pass may miss
    missed: set[Id] = field(default_factory=set)  # of these, what one did miss
    traps: dict[Id, str] = field(default_factory=dict)  # the latest change of a record that moves no date
    edited: dict[Id, str] = field(default_factory=dict)  # by hand on the box, and nobody overwrote it: the field
    ever_edited: set[Id] = field(default_factory=set)
    both: set[Id] = field(default_factory=set)  # changed on both sides since the last pass
    conflicts: set[Id] = field(default_factory=set)
    told: Ids = field(default_factory=by_stream)  # as deleted
    wanted: Wanted = field(default_factory=dict)  # what the last pass had to bring
    files: dict[str, Fields] = field(default_factory=dict)  # as the first pass that was shown each had to bring it
    counts: Counter[str] = field(default_factory=Counter)

    # ------------------------------------------------------------ what happens

    def note(self, changes: Json) -> None:
        """The answer of `mutate`."""
        for stream, lists in changes["streams"].items():
            self.created[stream] |= {*lists["created"]}
            self.counts.update({done: len(ids) for done, ids in lists.items()})
        for one in changes["invisible"]:
            self.counts["invisible"] += 1
            self.traps[one["stream"], one["id"]] = one["trap"]
            counted = one["trap"] == "comment_in_chat" and self.moves != "nothing"
            if is_explained(one["stream"], one["trap"]) and not counted:
                self.unseen.add((one["stream"], one["id"]))

    def look(self, source: Source, wanted: Wanted) -> None:
        """Notes the records that a pass was shown. A record that it may have missed may disappear before any pass sees
        it."""
        self.wanted = wanted
        self.files = {**wanted.get("files", {}), **self.files}
        for stream, rows in source.rows.items():
            self.known[stream] |= {one for one in rows if (stream, one) not in self.unseen}
        self.both.clear()

    def edit(
        self,
        names: Mapping[str, str],
        links: Sequence[Mapping[str, str]],
        changes: Json,
        chance: random.Random,
        write: Callable[[str, str, str], None],
    ) -> None:
        """Somebody changes records on the box: some that changed at the source today, and others. None twice."""
        for stream, name in names.items():
            ours = {
                one["source_id"]: one["target_id"]
                for one in links
                if one["stream"] == stream and one["origin"] == "import"
            }
            lists = changes["streams"].get(stream, {"changed": [], "deleted": [], "hidden": []})
            free = [one for one in sorted(ours) if (stream, one) not in self.ever_edited]
            changed = [one for one in free if one in lists["changed"] and (stream, one) not in self.unseen]
            others = [one for one in free if not any(one in ids for ids in lists.values())]
            for group in (changed, others):
                for one in chance.sample(group, min(len(group), EDITED_A_DAY)):
                    write(stream, ours[one], f"Правка в коробке {chance.randrange(10**6)}")
                    self.edited[stream, one] = name
                    self.ever_edited.add((stream, one))
                    if group is changed:
                        self.both.add((stream, one))

    def look_deep(self, source: Source) -> None:
        """After a deep pass less is explained."""
        tasks = {number for number, row in source["tasks"].items() if str(row["status"]) != CLOSED}
        found = {one for one in self.unseen if one[0] in LOOKED_INTO and one[1].partition(":")[0] in tasks}
        self.unseen -= found | {one for one in self.unseen if one[0] == "chats"}

    def bring_all(self) -> None:
        """After a full pass nothing is explained."""
        self.unseen.clear()

    # ------------------------------------------------------------ what must be

    def differences(self, source: Source, now: float, compared: Compared) -> Iterator[str]:
        """`now`: on the portal."""
        unseen = {key_of(*one): one for one in self.unseen if not is_fresh(source, *one, now)}
        edited = {(key_of(*one), name) for one, name in self.edited.items()}
        for one in compared.differences:
            stream = STREAMS.get(one.stream)
            if one.stream == "files" and self.is_lost_file(one.key, compared.wanted):
                continue
            if one.what == EXTRA:
                known = one.stream == "files" or one.key in self.keys(one.stream)
                if not known or (stream and stream.deletions.access):
                    yield str(one)
            elif (stream and one.field in stream.changes.volatile) or (one.key, one.field) in edited:
                continue  # it moves by itself and comes with the next change; or nobody may overwrite it unasked
            elif one.key in unseen:
                self.missed.add(unseen[one.key])
            else:
                yield str(one)

    def is_lost_file(self, key: str, wanted: Wanted) -> bool:
        """Whether the source had other bytes under this object when a pass read it. The message that it was uploaded
        with is gone, and what else it is attached to keeps a link to nothing: the box keeps the file."""
        read = self.files.get(key)
        return read is not None and read != wanted["files"].get(key, read)

    def keys(self, stream: str) -> set[str]:
        """Of what was ever there."""
        return {key_of(stream, one) for one in self.known[stream] | self.created[stream]}

    def deletions(
        self,
        source: Source,
        cloud: Portal,
        table: Sequence[Mapping[str, str]],
        links: Sequence[Mapping[str, str]],
        policy: str,
    ) -> Iterator[str]:
        """Exactly the deleted records are listed. Records hidden from the webhook's owner look the same."""
        self.told = by_stream()
        for row in table:
            self.told[row["stream"]].add(row["source_id"])
        there = {stream: {one["id"] for one in cloud.dump(stream)} for stream in self.known}
        for stream, known in self.known.items():
            gone = {one for one in known - there[stream] if (stream, one) not in self.unseen}
            must = {one for one in gone if is_provable(stream, one, there)}
            may = (known | self.created[stream]) - source[stream].keys()
            yield from (f"{stream}: {one} is deleted, and nobody says so" for one in sorted(must - self.told[stream]))
            yield from (f"{stream}: {one} is told as deleted and is there" for one in sorted(self.told[stream] - may))
        on_box = {(one["stream"], one["source_id"]) for one in links}
        for row in table:
            one, access = (row["stream"], row["source_id"]), STREAMS[row["stream"]].deletions.access
            if (access or (policy == "delete" and not row["reason"])) and one in on_box:
                yield f"{one[0]}: {one[1]} is deleted and still on the box, without a reason"

    def listed_conflicts(self, source: Source, wanted: Wanted, listed: Iterable[Mapping[str, str]]) -> Iterator[str]:
        """Exactly the records that changed on both sides and can be sent."""
        found = {(row["stream"], row["source_id"]) for row in listed}
        bad = failures(source)
        there = {(stream, one) for stream, one in self.both if one in source[stream] and one not in bad[stream]}
        must = {one for one in there if self.is_to_be_sent(*one, wanted)}
        for missing in sorted(must - found):
            trap = self.traps.get(missing, "an ordinary change")
            yield f"{missing[0]}: {missing[1]} changed on both sides ({trap}) and is not listed"
        yield from (
            f"{stream}: {one} is listed as changed on both sides" for stream, one in sorted(found - self.ever_edited)
        )
        for one in found - self.conflicts:
            self.edited.pop(one, None)  # by the rule the source's version was written
        self.conflicts |= found

    def is_to_be_sent(self, stream: str, number: str, wanted: Wanted) -> bool:
        """Whether the box must get other values than it had to get last. A change may have been taken back; and a task
        loses a parent that the box never had."""
        key, volatile = key_of(stream, number), STREAMS[stream].changes.volatile
        before, now = (one.get(stream, {}).get(key) for one in (self.wanted, wanted))
        if before is None or now is None:
            return True
        return any(before.get(name) != now.get(name) for name in {*before, *now} - {*volatile})

    def accounts(self, found: Iterable[Difference], status: Json) -> Iterator[str]:
        """The sums of every stream match, and no work is left. Verify counts records that the source no longer shows
        but whose deletion cannot be proven: the box still has them."""
        extra: Counter[str] = Counter()
        for one in found:
            extra[one.stream] += one.what == EXTRA and not self.is_told(one)
        for about in status["entities"].values():
            for stream, counts in about["streams"].items():
                arrived = counts["import_ok"] + counts["import_err"] + counts["excluded"]
                unshown = extra[stream] if counts["mismatch"] else 0
                if arrived - counts["retrieved"] not in (0, unshown) or counts["new"] or counts["error_retry"]:
                    yield f"{stream}: {counts['retrieved']} read, {arrived} arrived, failed or excluded: {counts}"
                if counts["reported"] is not None and counts["reported"] + counts["deleted"] != counts["retrieved"]:
                    yield f"{stream}: reported and deleted are not what was read: {counts}"
                if counts["deleted"] != len(self.told[stream]):
                    yield f"{stream}: {counts['deleted']} counted as deleted, {len(self.told[stream])} listed"

    def is_told(self, one: Difference) -> bool:
        return any(one.key == key_of(one.stream, number) for number in self.told[one.stream])


def is_provable(stream: str, number: str, there: Mapping[str, set[str]]) -> bool:
    """If the deletion of a parent cannot be proven, that of its children cannot be either."""
    known = STREAMS[stream]
    of = STREAMS.get(known.parent)  # an aid is no stream of its own
    return not known.deletions.unprovable and not (
        of and of.deletions.unprovable and number.rpartition(":")[0] not in there[of.name]
    )


def is_explained(stream: str, trap: str) -> bool:
    known = STREAMS.get(stream)
    keys = EXPLAINED.get(trap, ())
    return known is not None and any(getattr(one, "key", "") in keys for one in known.unseen)


def is_fresh(source: Source, stream: str, number: str, now: float) -> bool:
    row = source[stream].get(number) if stream == "chat_messages" else None
    return row is not None and datetime.fromtimestamp(now, UTC) - datetime.fromisoformat(row["date"]) < FRESH
