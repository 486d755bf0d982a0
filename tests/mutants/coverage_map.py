"""Which tests run which line: a plugin of pytest that records it, and what it has recorded.

`python -m pytest -p tests.mutants.coverage_map` writes one file for each process of the tests. What a fixture of a module or
of the session runs counts for every test that uses the fixture."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from tests.mutants.changes import PROJECT
from tests.mutants.probes import Probes

PACKAGE = PROJECT / "src" / "b24migrate"
RECORDED = ("engine", "bitrix", "stores")
LAYERS = ("bitrix", "stores", "stores/azure", "engine", "unit", "functions", "targets", "cli")
RANDOM = frozenset({"test_chaos.py", "test_fuzz.py"})  # another time they do something else
VALUES, QUICK_S = 3, 0.1  # of those that a slow test is run with; of a quick one all are
FILES = 16  # of tests that are recorded at a time: what was recorded stays when a run is interrupted
MOST = 1000  # tests of a line that each process writes down, the fastest
FOLDER = "MUTANTS_MAP"  # where the processes write to


class Recorder:
    def __init__(self, folder: Path, process: str, probes: Probes) -> None:
        self._file = folder / f"process-{process}.json"
        self._probes = probes
        self._ran: dict[int, set[str]] = defaultdict(set)  # probe -> contexts
        self._context: list[str] = []
        self._seconds: dict[str, float] = defaultdict(float)
        self._spare: set[str] = set()  # not to be run if others of the same test are slow
        self._slow: set[str] = set()  # tests, without their values
        self._shared: dict[str, list[str]] = {}  # test -> its fixtures that others use too
        self._failed: set[str] = set()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """A test with many values runs mostly the same lines with each. Of a slow one some are enough; they lie far apart:
        the values of one store, or of one box, come one after another."""
        values = Counter(_without_values(item) for item in items)
        met: Counter[str] = Counter()
        for item in items:
            name = _without_values(item)
            place, count = met[name], values[name]
            met[name] += 1
            if count > VALUES and place not in {number * (count - 1) // (VALUES - 1) for number in range(VALUES)}:
                self._spare.add(item.nodeid)
        items.sort(key=lambda item: item.nodeid in self._spare)

    @pytest.hookimpl(tryfirst=True, specname="pytest_runtest_protocol")
    def leave_out(self, item: pytest.Item) -> bool | None:
        return True if item.nodeid in self._spare and _without_values(item) in self._slow else None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        known: dict[str, Any] = getattr(item, "_fixtureinfo").name2fixturedefs  # noqa: B009 (pytest does not show it)
        self._shared[item.nodeid] = [_name(one[-1]) for one in known.values() if one[-1].scope != "function"]
        return (yield from self._within(item.nodeid))

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        if fixturedef.scope == "function":
            return (yield)
        return (yield from self._within(_name(fixturedef)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self._failed.add(report.nodeid)
        if report.duration > QUICK_S:
            self._slow.add(report.nodeid.partition("[")[0])

    def pytest_sessionfinish(self) -> None:
        contexts = sorted((one for one in self._seconds if one not in self._failed), key=self._seconds.__getitem__)
        numbers = {context: number for number, context in enumerate(contexts)}
        lines: dict[str, dict[int, list[int]]] = defaultdict(dict)
        for probe, ran in self._ran.items():
            file, where = self._probes.lines[probe]
            found = sorted(numbers[one] for one in ran if one in numbers)[:MOST]
            lines[str(file.relative_to(PACKAGE))] |= dict.fromkeys(where, found)
        seconds = [self._seconds[one] for one in contexts]
        known = {"contexts": contexts, "seconds": seconds, "fixtures": self._shared, "lines": lines}
        self._file.write_text(json.dumps(known))

    def _within(self, context: str) -> Iterator[None]:
        """Counts lines and seconds for this context, and for the one around it again afterwards."""
        self._note()
        self._context.append(context)
        start_s = time.monotonic()
        try:
            return (yield)
        finally:
            took_s = time.monotonic() - start_s
            self._seconds[context] += took_s
            self._note()
            self._context.pop()
            if self._context:
                self._seconds[self._context[-1]] -= took_s

    def _note(self) -> None:
        """What has run since, in the context that ends or is interrupted here."""
        for probe in self._probes.take():
            if self._context:
                self._ran[probe].add(self._context[-1])


def _without_values(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _name(fixture: pytest.FixtureDef[Any]) -> str:
    return f"fixture {fixture.baseid} {fixture.argname}"


PROBES = Probes(lambda file: any(file.is_relative_to(PACKAGE / folder) for folder in RECORDED))
if FOLDER in os.environ:
    PROBES.install()  # before a conftest imports what is to have them


def pytest_configure(config: pytest.Config) -> None:
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker or not config.getoption("numprocesses", None):
        config.pluginmanager.register(Recorder(Path(os.environ[FOLDER]), worker or "main", PROBES))


@dataclass(frozen=True)
class Candidate:
    """`rare` is higher for a test that runs lines of the file that few others run: it is about what the file does. What
    `shared` fixtures take, by name, is spent once for all tests that use them."""

    id: str
    seconds: float
    rare: float = 0.0
    shared: tuple[tuple[str, float], ...] = ()

    @property
    def file(self) -> str:
        return self.id.partition("::")[0]


class Part:
    """What one run of some files of tests has recorded, and the source as it was then."""

    def __init__(self, folder: Path) -> None:
        about = json.loads((folder / "about.json").read_text("utf-8"))
        self.digests: dict[str, str] = about["digests"]
        self._sources: dict[str, str] = about["sources"]
        self._processes = [json.loads(file.read_text("utf-8")) for file in sorted(folder.glob("process-*.json"))]
        self._users: list[dict[str, list[str]]] = []  # fixture -> tests
        for process in self._processes:
            users: dict[str, list[str]] = defaultdict(list)
            for test, fixtures in process["fixtures"].items():
                for fixture in fixtures:
                    users[fixture].append(test)
            self._users.append(users)

    def tests_of(self, file: str, text: str, lines: Iterable[int]) -> Iterator[Candidate]:
        for process, users in zip(self._processes, self._users, strict=True):
            seconds = dict(zip(process["contexts"], process["seconds"], strict=True))
            for number in {one for line in lines for one in self._ran(process, file, text, line)}:
                context = process["contexts"][number]
                for test in users[context] if context.startswith("fixture ") else [context]:
                    shared = process["fixtures"].get(test, ())
                    if test in seconds:
                        made = tuple((one, seconds[one]) for one in shared if one in seconds)
                        yield Candidate(test, seconds[test], shared=made)

    def tests_by_line(self, file: str) -> Iterator[tuple[int, set[str]]]:
        """The tests of each of its lines, as they were numbered then."""
        for process, users in zip(self._processes, self._users, strict=True):
            contexts = process["contexts"]
            for line, numbers in process["lines"].get(file, {}).items():
                named = [contexts[number] for number in numbers]
                tests = {test for one in named for test in (users[one] if one.startswith("fixture ") else [one])}
                yield int(line), tests

    def _ran(self, process: dict[str, Any], file: str, text: str, line: int) -> list[int]:
        before = self._sources.get(file)
        if before is not None and before != text:
            line = _lines_before(before, text)[line]
        found: list[int] = process["lines"].get(file, {}).get(str(line), [])
        return found


@cache
def _lines_before(before: str, now: str) -> list[int]:
    """For each line where it was. One that is new, or was changed, is where its neighbours were."""
    old: list[int] = [0]
    matcher = SequenceMatcher(None, before.splitlines(), now.splitlines(), autojunk=False)
    for _, a, a_end, b, b_end in matcher.get_opcodes():
        old += [min(a + number + 1, a_end) for number in range(b_end - b)]
    return old


class CoverageMap:
    """Made of parts: when tests change, only their files are recorded again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._rarity: dict[str, dict[str, float]] = {}  # by file of the source
        self._load()

    def _load(self) -> None:
        self._parts = [Part(one.parent) for one in sorted(self._folder.glob("*/about.json"))]
        self._newest = {file: part for part in self._parts for file in part.digests}

    def record(self, processes: int) -> None:
        """What has changed since it was recorded, or all of it."""
        now = {str(file.relative_to(PROJECT)): digest(file) for file in _test_files()}
        stale = [one for one in now if one not in self._newest or self._newest[one].digests[one] != now[one]]
        if not stale:
            return
        print(f"recording which lines {len(stale)} files of tests run", flush=True)
        for some in _pieces(stale):
            start_s = time.monotonic()
            self._record_part({one: now[one] for one in some}, processes)
            print(f"  {some[0]} and {len(some) - 1} more: {time.monotonic() - start_s:.0f} s", flush=True)
        self._load()

    def _record_part(self, digests: dict[str, str], processes: int) -> None:
        folder = self._folder / f"{len(list(self._folder.glob('*/about.json'))):03}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        command = [sys.executable, "-m", "pytest", "-p", "tests.mutants.coverage_map", "-q", "-p", "no:cacheprovider"]
        run = [*command, "-n", str(processes), *digests]
        with (folder / "output.txt").open("wb") as output:
            subprocess.run(run, cwd=PROJECT, env=os.environ | {FOLDER: str(folder)}, check=False, stdout=output)
        sources = {str(file.relative_to(PACKAGE)): file.read_text("utf-8") for file in _recorded_files()}
        about = {"digests": digests, "sources": sources}
        (folder / "about.json").write_text(json.dumps(about))  # the last: without it there is no part

    def tests_of(self, path: Path, lines: Iterable[int]) -> list[Candidate]:
        """That run one of the lines now; of a value that the module or a class keeps, those that run any line of the file,
        if nothing in it names the value."""
        file, text = str(path.relative_to(PACKAGE)), path.read_text("utf-8")
        asked = list(lines) or list(range(1, len(text.splitlines()) + 1))
        rare = self._rare(file)
        found = {
            test.id: replace(test, rare=rare[test.id])
            for part in self._parts
            for test in part.tests_of(file, text, asked)
            if self._newest.get(test.file) is part and (PROJECT / test.file).is_file()
        }
        return list(found.values())

    def _rare(self, file: str) -> dict[str, float]:
        """Of each test that runs some of its lines."""
        if file not in self._rarity:
            lines: dict[int, set[str]] = defaultdict(set)
            for part in self._parts:
                for line, tests in part.tests_by_line(file):
                    lines[line] |= tests
            self._rarity[file] = defaultdict(float)
            for tests in lines.values():
                for test in tests:
                    self._rarity[file][test] += 1 / len(tests)
        return self._rarity[file]


def _test_files() -> Iterator[Path]:
    for layer in LAYERS:
        yield from (one for one in sorted((PROJECT / "tests" / layer).glob("test_*.py")) if one.name not in RANDOM)


def _recorded_files() -> Iterator[Path]:
    for folder in RECORDED:
        yield from (PACKAGE / folder).glob("**/*.py")


def _pieces(files: Sequence[str]) -> Iterator[Sequence[str]]:
    """Each of one folder: its tests share what the folder makes once."""
    for _, same in groupby(files, key=lambda one: one.rpartition("/")[0]):
        some = list(same)
        yield from (some[begin : begin + FILES] for begin in range(0, len(some), FILES))


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
