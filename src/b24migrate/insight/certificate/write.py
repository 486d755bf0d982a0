"""Makes a certificate from the store alone. It appears whole, under its name, or not at all."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

import msgspec

from b24migrate import __version__
from b24migrate.engine.phases.context import RunContext
from b24migrate.insight.certificate import form
from b24migrate.insight.certificate.checks import CompleteRun, require_complete
from b24migrate.insight.certificate.classes import AGAIN, classify
from b24migrate.insight.certificate.facts import Known, read_known_ids, read_pages
from b24migrate.insight.certificate.form import Entry, Head, Made, PageLine, Sums, Tally
from b24migrate.messages import say
from b24migrate.model.errors import Halted, Unproven
from b24migrate.model.records import Status, canonical
from b24migrate.model.streams import Stream
from b24migrate.private_files import replace_private


def make(context: RunContext, out: Path, *, clean: Callable[[str], str] = str) -> Made:
    """`clean` takes out of a reason what nobody else shall read. Raises Halted or Unproven, having written nothing."""
    about = require_complete(context)
    with _open_output(out) as fresh, tempfile.TemporaryFile(dir=out.parent) as body:
        sums, foreseen = _body(context, about, body, out.parent, clean)
        if require_complete(context)._replace(inventories=about.inventories) != about:
            message = say("certificate.run_started")
            raise Halted(message, code="CERTIFICATE_INCOMPLETE", hint=say("certificate.after_run"))
        head = _head(context, about, sums, foreseen)
        chain = form.Chain()
        form.append(fresh, chain, head)
        body.seek(0)
        for line in body:
            form.append(fresh, chain, _read_back(line))
        root = form.seal(fresh, chain)
    return Made(head, root, chain.lines + 1)


def _read_back(line: bytes) -> Entry | PageLine:
    if line.startswith(b'{"page":'):
        return msgspec.json.decode(line, type=PageLine)
    return msgspec.json.decode(line, type=Entry)


@contextmanager
def _open_output(out: Path) -> Iterator[BinaryIO]:
    try:
        with replace_private(out, "wb") as file:
            yield file
    except OSError as error:
        message = say("certificate.unwritable", out=out, why=error.strerror or error)
        raise Halted(message, code="CERTIFICATE_NOT_WRITTEN", hint=say("certificate.other_place")) from None


def _body(
    context: RunContext, about: CompleteRun, body: BinaryIO, folder: Path, clean: Callable[[str], str]
) -> tuple[Sequence[Sums], int]:
    """One line for each id and each page, not yet chained; what they amount to is known only then: the sums, and the
    number of foreseen differences."""
    tallies = {stream.name: Tally() for stream in about.streams}
    statuses: Counter[tuple[str, Status]] = Counter()
    for known in read_known_ids(context, about.streams, folder):
        entry = classify(known, clean)
        if lacking := form.find_lacking(entry):
            raise Unproven(f"{entry.stream} {entry.id}: {lacking}.", code="CERTIFICATE_NOT_CLOSED", hint=AGAIN)
        tallies[entry.stream].add(entry)
        statuses.update(_status(known))
        body.write(form.encode(entry))
    for stream, number, said in read_pages(context, about.streams, folder):
        line = PageLine(stream.name, int(number), str(said["ApiParamsHash"]), int(said["Retrieved"]))
        tallies[stream.name].pages += 1
        body.write(form.encode(line))
    for stream in about.streams:
        _require_counts(context, stream, statuses)
    sums = [_require_closed(name, tally, about) for name, tally in tallies.items()]
    return sums, sum(tally.foreseen for tally in tallies.values())


def _status(known: Known) -> list[tuple[str, Status]]:
    return [(known.stream.name, known.record.status)] if known.record is not None else []


def _require_counts(context: RunContext, stream: Stream, statuses: Counter[tuple[str, Status]]) -> None:
    """The store counts for itself as well: where both differ, somebody else wrote into it."""
    for status, counted in context.store.counts(stream.table).items():
        if counted != statuses[stream.name, status]:
            there = statuses[stream.name, status]
            message = say("certificate.store_counted", stream=stream.name, counted=counted, status=status, there=there)
            raise Unproven(message, code="CERTIFICATE_NOT_CLOSED", hint=AGAIN)


def _require_closed(name: str, tally: Tally, about: CompleteRun) -> Sums:
    sums = tally.sums(name, about.inventories.get(name))
    if problem := form.find_unclosed(sums, tally.pages):
        hint = say("certificate.again_read")
        raise Unproven(say("certificate.problem", problem=problem), code="CERTIFICATE_NOT_CLOSED", hint=hint)
    return sums


def _head(context: RunContext, about: CompleteRun, sums: Sequence[Sums], foreseen: int) -> Head:
    run, options = about.run, context.options
    return Head(
        form.FORMAT,
        __version__,
        run.id,
        run.finished,
        urlsplit(options.source_url).netloc,
        urlsplit(options.target_url).netloc,
        msgspec.json.decode(canonical(asdict(run.plan))),
        list(sums),
        foreseen,
    )
