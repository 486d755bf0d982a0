"""One algorithm for every stream: what is known is left or updated, what may have arrived is looked for, the rest is
created. An intent is in the store before a create leaves, and what became of it is written after the answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from b24migrate.model.errors import MigrationError, Permanent, Transient
from b24migrate.model.records import Args, Item, Json, Outcome, digest
from b24migrate.targets.rest.box import Box, expect_known_shape, in_chunks
from b24migrate.targets.rest.journal import Journal, JournalEntry, State, busy_error
from b24migrate.targets.rest.writer import CreateResult, Known, Update, Writer

PAUSES_S = (1.0, 2.0)
COMPLETE = (State.DONE, State.LINKED)
EMPTY: tuple[Json, ...] = (None, False, 0, "", [], {})


class Sender:
    """The items of one call."""

    def __init__(self, box: Box, journal: Journal, writer: Writer, items: Sequence[Item]) -> None:
        self._box = box
        self._journal = journal
        self._writer = writer
        self._items = {item.key: item for item in items}
        self._known = journal.find(writer.stream, list(self._items))
        self._outcomes: dict[str, Outcome] = {}
        self._done: dict[str, JournalEntry] = {}
        self._linked: set[str] = set()  # just now
        self._found: set[str] = set()  # records of an earlier attempt
        self._made: list[JournalEntry] = []  # and not written yet

    def send(self) -> list[Outcome]:
        """Raises errors of the portal; records that were written before are remembered."""
        try:
            self._create(self._missing())
            self._finish()
            self._update()
            self._complete_options()
        finally:
            self._remember()
        return [self._outcomes[key] for key in self._items]

    # ------------------------------------------------------------ what is there, and what may be

    def _missing(self) -> list[Item]:
        """Those that have to be created. The others are known by their ids afterwards."""
        begun = {key: one.trace for key, one in self._known.items() if one.state is State.BEGUN}
        self._find_arrived(begun)
        self._box.under_way.refuse({key: self._known[key].begun for key in begun if not self._has(key)})
        missing = [item for key, item in self._items.items() if not self._has(key)]
        self._link([item for item in missing if item.key not in self._known])
        missing = [item for item in missing if item.key not in self._linked]
        signature = self._box.under_way.signature()
        intents = [self._intent(item)._replace(begun=signature) for item in missing]
        if not all(self._journal.begin(self._writer.stream, one) for one in intents):
            raise busy_error()
        self._known |= {one.key: one for one in intents}
        return missing

    def _link(self, new: Sequence[Item]) -> None:
        if not new or not self._writer.existing:
            return
        with expect_known_shape(self._writer.stream):
            found = self._writer.existing(self._box, new)
        self._linked |= found.keys()
        self._known |= {key: JournalEntry(key, State.LINKED, target_id) for key, target_id in found.items()}

    def _intent(self, item: Item) -> JournalEntry:
        known = self._known.get(item.key)
        if known is not None and not self._was_sent_differently(item):
            return known
        version = known.version if known else 0
        return JournalEntry(item.key, State.BEGUN, "", item.digest, self._trace(item), version=version)

    def _trace(self, item: Item) -> Json:
        trace = self._writer.trace(item)
        if not self._writer.before:
            return trace
        with expect_known_shape(self._writer.stream):
            return {**(trace or {}), **self._writer.before(self._box, item)}

    def _was_sent_differently(self, item: Item) -> bool:
        """An answer may come so late that by then the record is another."""
        return self._known[item.key].digest != item.digest

    def _has(self, key: str) -> bool:
        return key in self._known and self._known[key].state is not State.BEGUN

    def _find_arrived(self, begun: Mapping[str, Json]) -> None:
        """Remembered at once: what completes it may change what it was found by."""
        found = look_for(self._box, self._writer, begun)
        self._found |= found.keys()
        made = [self._known[key]._replace(state=State.MADE, target_id=one) for key, one in found.items()]
        self._journal.write(self._writer.stream, made)
        self._known |= {one.key: one for one in made}

    # ------------------------------------------------------------ creating

    def _create(self, items: Sequence[Item]) -> None:
        ended = False
        try:
            for one in self._create_missing(items):
                if one.error is not None:
                    self._outcomes[one.key] = failed_outcome(one.key, one.error)
                    continue
                state = State.LINKED if one.linked else State.MADE
                self._linked |= {one.key} if one.linked else set()
                self._known[one.key] = self._known[one.key]._replace(state=state, target_id=one.target_id)
                self._box.saw(self._writer.stream, one.target_id)
                self._made.append(self._known[one.key])
            ended = True
        finally:
            # before the next step, even if it is the last: a known ID saves a search
            if self._writer.finish or not ended:
                self._remember_created()

    def _remember_created(self) -> None:
        self._journal.write(self._writer.stream, self._made)
        self._made = []

    def _create_missing(self, items: Sequence[Item]) -> Iterator[CreateResult]:
        """With patience: when an answer is lost, what arrived is looked for, and the rest is created once more. Also
        after the last try: one that counts as failed and is there would be taken for another that looks the same."""
        left = {item.key: item for item in items}
        error: Transient | None = None
        ends_s = 0.0
        for pause_s in (0.0, *PAUSES_S, None):
            if not left:
                return
            if error is not None:
                self._remember_created()  # so that none of them is taken for a lost one that looks the same
                self._box.portal.clock.sleep(max(pause_s or 0.0, ends_s))
                traces = {key: self._known[key].trace for key in left}
                for key, target_id in look_for(self._box, self._writer, traces).items():
                    del left[key]
                    yield CreateResult(key, target_id)
            if pause_s is None:
                break
            try:
                with expect_known_shape(self._writer.stream):
                    for made in self._writer.create(self._box, list(left.values())):
                        del left[made.key]
                        yield made
            except Transient as lost:
                ends_s = self._box.under_way.gave_up(left, lost)
                if not lost.own:
                    raise
                error = lost
            else:
                return
        yield from (CreateResult(key, error=error) for key in left)

    # ------------------------------------------------------------ completing and changing

    def _finish(self) -> None:
        for key, item in self._items.items():
            one = self._known[key]
            if key in self._outcomes or (one.state is not State.MADE and key not in self._linked):
                continue
            steps = [] if key in self._linked else [self._writer.finish]
            incomplete = self._was_sent_differently(item) or (self._writer.halfway and key in self._found)
            steps += [self._writer.update] if steps and incomplete else []
            if all(self._perform_step(step, one, item) for step in steps):
                self._settle(item, "created")

    def _update(self) -> None:
        for key, item in self._items.items():
            one = self._known[key]
            if key in self._outcomes or one.state not in COMPLETE:
                continue
            if one.digest == item.digest:
                self._outcomes[key] = Outcome(key, "unchanged", one.target_id)
                if self._writer.delete and not one.print:  # its process was killed before it read the record back
                    self._done[key] = one
            elif one.state is State.LINKED or self._perform_step(self._writer.update, one, item):
                self._settle(item, "updated")

    def _complete_options(self) -> None:
        """Of every record, also of one that is linked or as it was: a repeated question gets the same answer."""
        for key, item in self._items.items() if self._writer.options else ():
            if self._outcomes[key].status != "failed":
                found: dict[str, str] = {}

                def complete(box: Box, known: Known, item: Item, found: dict[str, str] = found) -> None:
                    found |= self._writer.options(box, known, item) if self._writer.options else {}

                if self._perform_step(complete, self._known[key], item):
                    self._outcomes[key] = self._outcomes[key]._replace(options=found)

    def _perform_step(self, act: Update | None, one: JournalEntry, item: Item) -> bool:
        """A step that may be repeated. True if it succeeded or does not exist."""
        for pause_s in (*PAUSES_S, None):
            try:
                if act is not None:
                    with expect_known_shape(self._writer.stream):
                        act(self._box, Known(one.target_id, one.trace), item)
            except (Permanent, Transient) as error:
                if isinstance(error, Transient) and not error.own:
                    raise
                if isinstance(error, Permanent) or pause_s is None:
                    self._outcomes[one.key] = failed_outcome(one.key, error)
                    return False
                self._box.portal.clock.sleep(pause_s)
            else:
                return True
        return False

    def _settle(self, item: Item, status: str) -> None:
        one = self._known[item.key]
        state = State.LINKED if one.state is State.LINKED else State.DONE
        settled = one._replace(state=state, digest=item.digest, trace=self._writer.trace(item))
        self._known[item.key] = self._done[item.key] = settled
        self._outcomes[item.key] = Outcome(item.key, status, one.target_id)

    # ------------------------------------------------------------ remembering

    def _remember(self) -> None:
        """With their current values on the box: an undo sees whether they changed."""
        self._journal.write(self._writer.stream, list(self._done.values()))
        if not self._writer.delete or not self._done:
            return
        prints = fingerprints(self._box, self._writer, self._done.values())
        self._journal.write(
            self._writer.stream, [one._replace(print=prints.get(key, "")) for key, one in self._done.items()]
        )


def look_for(box: Box, writer: Writer, begun: Mapping[str, Json]) -> dict[str, str]:
    with expect_known_shape(writer.stream):
        return writer.find(box, begun) if begun else {}


def read_from_box(box: Box, writer: Writer, some: Iterable[JournalEntry]) -> dict[str, Args]:
    """The box's data of the records that it has, a page at a time."""
    found: dict[str, Args] = {}
    for few in in_chunks(some):
        with expect_known_shape(writer.stream):
            found |= writer.read(box, {one.key: Known(one.target_id, one.trace) for one in few})
    return found


def fingerprints(box: Box, writer: Writer, some: Iterable[JournalEntry]) -> dict[str, str]:
    """The fingerprint of the record on the box, without fields that change by themselves and without empty ones: a new
    custom field changes no record."""
    return {key: fingerprint(writer, fields) for key, fields in read_from_box(box, writer, some).items()}


def fingerprint(writer: Writer, fields: Args) -> str:
    return digest({name: one for name, one in fields.items() if one not in EMPTY and name not in writer.restless})


def is_changed(box: Box, writer: Writer, one: JournalEntry, fields: Args) -> bool | None:
    """Whether a user changed it since it was written. A record that is only linked was never written."""
    if one.state is State.LINKED:
        return False
    if not one.print:
        return None
    return fingerprint(writer, writer.without_ours(box, Known(one.target_id, one.trace), fields)) != one.print


def failed_outcome(key: str, error: MigrationError) -> Outcome:
    return Outcome(key, "failed", None, error.code, error.message, isinstance(error, Transient))
