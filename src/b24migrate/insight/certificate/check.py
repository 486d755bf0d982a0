"""Re-checks a certificate from its file alone: every line, every sum, the root. No store, no portal, flat memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec

from b24migrate.insight.certificate import form
from b24migrate.insight.certificate.form import Chain, Entry, Head, Made, PageLine, Root, Tally
from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration, Unproven
from b24migrate.model.records import Json, canonical, order_key

ASK = say("certificate.ask")
Line = TypeVar("Line", Head, Entry, PageLine, Root)


def check(file: Path) -> Made:
    """Raises BadConfiguration if it is not a certificate, Unproven if it is not valid."""
    try:
        with file.open("rb") as lines:
            return _Check(file).run(lines)
    except OSError as error:
        message = say("certificate.unreadable", file=file, why=error.strerror or error)
        raise BadConfiguration(message, code="CERTIFICATE_UNREADABLE", hint=say("certificate.check_path")) from None


class _Check:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._chain = Chain()
        self._number = 0
        self._tallies: dict[str, Tally] = {}
        self._places: dict[str, int] = {}
        self._last: tuple[bool, int, str] = (False, -1, "")  # a page?, its stream, its id or number

    def run(self, lines: BinaryIO) -> Made:
        head, root = None, None
        for raw in self._lines(lines):
            if root is not None:
                raise self._unproven(say("certificate.after_end"))
            if head is None:
                head = self._head(raw)
                continue
            line = self._decode(raw)
            if line.get("after") != self._chain.after:
                raise self._unproven(say("certificate.altered", number=self._number), back=1)
            if "root" in line:
                root = self._root(line)
            else:
                self._check_line(line)
                self._chain.add(raw)
        if head is None:
            raise self._not_a_certificate()
        if root is None:
            raise self._unproven(say("certificate.no_end"))
        self._compare(head)
        return Made(head, root.root, self._number)

    def _lines(self, lines: BinaryIO) -> Iterator[bytes]:
        while raw := lines.readline(form.LONGEST_LINE):
            self._number += 1
            yield raw

    # ------------------------------------------------------------ lines

    def _head(self, raw: bytes) -> Head:
        if not raw.startswith(form.BEGINNING):
            raise self._not_a_certificate()
        values = self._decode(raw)
        if values["certificate"] != form.FORMAT:
            message = say("certificate.other_format", file=self._file, said=values["certificate"])
            hint = say("certificate.other_format_fix", format=form.FORMAT)
            raise BadConfiguration(message, code="NOT_A_CERTIFICATE", hint=hint)
        head = self._convert(Head, values)
        self._chain.add(raw)
        self._places = {sums.stream: place for place, sums in enumerate(head.streams)}
        self._tallies = {sums.stream: Tally() for sums in head.streams}
        if len(self._places) != len(head.streams):
            raise self._unproven(say("certificate.stream_twice"))
        return head

    def _decode(self, raw: bytes) -> dict[str, Json]:
        if not raw.endswith(b"\n"):
            raise self._unproven(say("certificate.line_cut"))
        try:
            values = msgspec.json.decode(raw)
            same = isinstance(values, dict) and canonical(values) + b"\n" == raw
        except (msgspec.DecodeError, UnicodeError):
            raise self._unproven(say("certificate.not_json")) from None
        if not same:
            raise self._unproven(say("certificate.not_canonical"))
        return dict(values)

    def _check_line(self, values: dict[str, Json]) -> None:
        is_page = "page" in values
        line: Any = self._convert(PageLine, values) if is_page else self._convert(Entry, values)
        if line.stream not in self._places:
            raise self._unproven(say("certificate.no_stream", stream=line.stream))
        source_id = str(line.page) if is_page else line.id
        now = is_page, self._places[line.stream], order_key(source_id)
        if now <= self._last:
            raise self._unproven(say("certificate.disorder", stream=line.stream, source_id=source_id))
        self._last = now
        if is_page:
            self._tallies[line.stream].pages += 1
            return
        if lacking := form.find_lacking(line):
            raise self._unproven(f"{line.stream} {line.id}: {lacking}")
        self._tallies[line.stream].add(line)

    def _root(self, values: dict[str, Json]) -> Root:
        root = self._convert(Root, values)
        if root.root != self._chain.root:
            raise self._unproven(say("certificate.root"))
        if root.lines != self._chain.lines:
            raise self._unproven(say("certificate.lines", lines=root.lines, found=self._chain.lines))
        return root

    def _convert(self, kind: type[Line], values: dict[str, Json]) -> Line:
        try:
            line = msgspec.convert(values, kind)
        except msgspec.ValidationError as error:
            raise self._unproven(say("certificate.odd_line", error=error)) from None
        if canonical(line) != canonical(values):
            raise self._unproven(say("certificate.strange_class"))
        return line

    # ------------------------------------------------------------ sums

    def _compare(self, head: Head) -> None:
        self._number, counted = 1, self._number
        for sums in head.streams:
            tally = self._tallies[sums.stream]
            for name, count in tally.counts.items():
                if getattr(sums, name) != count:
                    stated = getattr(sums, name)
                    raise self._unproven(
                        say("certificate.counted", stream=sums.stream, said=stated, name=name, count=count)
                    )
            if sums != tally.sums(sums.stream, sums.inventory):
                raise self._unproven(say("certificate.sums", stream=sums.stream))
            if problem := form.find_unclosed(sums, tally.pages):
                raise self._unproven(problem)
        foreseen = sum(tally.foreseen for tally in self._tallies.values())
        if head.foreseen != foreseen:
            raise self._unproven(say("certificate.foreseen", said=head.foreseen, found=foreseen))
        if noise := form.find_noise(head):
            raise self._unproven(noise)
        self._number = counted

    def _unproven(self, what: str, *, back: int = 0) -> Unproven:
        line = self._number - back
        return Unproven(
            say("certificate.broken", file=self._file, line=line, what=what), code="CERTIFICATE_BROKEN", hint=ASK
        )

    def _not_a_certificate(self) -> BadConfiguration:
        message = say("certificate.not_ours", file=self._file)
        return BadConfiguration(message, code="NOT_A_CERTIFICATE", hint=say("certificate.give"))
