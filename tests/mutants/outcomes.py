"""The outcome of each mutation, kept from one run to the next."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

from tests.mutants.changes import PROJECT, Change
from tests.mutants.coverage_map import Candidate, digest


@dataclass(frozen=True)
class Outcome:
    change: Change
    tests: int  # that were tried
    noticed: str = ""  # how a test failed; "" if all passed
    by: str = ""  # the test that failed

    def __str__(self) -> str:
        why = self.noticed or (f"{self.tests} tests pass" if self.tests else "no test runs it")
        return f"  {self.change.place}  {self.change}\n      {self.change.text}\n      {why}"


class Outcomes:
    """Written as soon as they are known: a run that was interrupted goes on, and a later one tries only what may have
    changed. What a test has noticed holds as long as its file stays as it is; what no test has noticed, as long as all
    files with a test of the line do."""

    def __init__(self, file: Path, *, forget: bool = False) -> None:
        self._file = file
        self._lock = Lock()
        self._known: dict[str, dict[str, Any]] = {}
        if file.exists() and not forget:
            for line in file.read_text("utf-8").splitlines():
                with suppress(json.JSONDecodeError):  # of a line that was half written
                    one = json.loads(line)
                    self._known[one["key"]] = one

    def find(self, change: Change, tests: Sequence[Candidate]) -> Outcome | None:
        known = self._known.get(_key(change))
        if known is None or known["files"] != _digests(known["by"], tests):
            return None
        return Outcome(change, known["tests"], known["noticed"], known["by"])

    def keep(self, outcome: Outcome, tests: Sequence[Candidate]) -> Outcome:
        """`tests`: all that run the line."""
        one = {
            "key": _key(outcome.change),
            "place": outcome.change.place,
            "change": str(outcome.change),
            "noticed": outcome.noticed,
            "by": outcome.by,
            "tests": outcome.tests,
            "files": _digests(outcome.by, tests),
        }
        with self._lock, self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(one) + "\n")
        return outcome


def _key(change: Change) -> str:
    return sha256(f"{change.file.relative_to(PROJECT)}\n{change.source}".encode()).hexdigest()


def _digests(by: str, tests: Sequence[Candidate]) -> dict[str, str]:
    files = {by.partition("::")[0]} if by else {one.file for one in tests}
    return {one: digest(PROJECT / one) for one in sorted(files) if (PROJECT / one).is_file()}
