"""`python -m tests.mutants`: changes the source in sampled places, one at a time, and runs the tests that should notice.

Exit code 1 when too few of the changes are noticed. Those that are not are named."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from tests import azurite
from tests.mutants.changes import PROJECT, Change, changes_of
from tests.mutants.coverage_map import PACKAGE, Candidate, CoverageMap
from tests.mutants.outcomes import Outcome, Outcomes

SCOPE = (
    "engine/**/*.py",
    *(f"bitrix/{one}.py" for one in ("batch", "breaker", "budget", "client", "faults", "limits", "quota_store")),
    *("stores/sqlite/queue.py", "stores/sqlite/settle.py", "stores/azure/queue.py", "stores/azure/settle.py"),
    *(f"stores/azure/{one}.py" for one in ("jobs", "jobtable", "transactions")),
)
EQUIVALENT = Path(__file__).parent / "equivalent.toml"
INJECT = Path(__file__).parent / "inject"
FIRST_S, ALL_S = 5.0, 90.0  # seconds of tests that are tried first, and then
START_S = 0.5  # that a test takes at least
LEAST = 0.95


def main() -> int:
    options = _options()
    os.chdir(PROJECT)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or every run of tests would compile all that it imports
    start_s = time.monotonic()
    known = CoverageMap(options.map)
    if not options.known:
        known.record(options.processes)
    chosen = sample(options.samples, options.seed, options.only)
    if options.survivors:
        chosen = survivors(options.survivors.read_text("utf-8"))
    print(f"{len(chosen)} changes, {options.processes} at a time", flush=True)
    with azurite.running(), tempfile.TemporaryDirectory() as folder:
        azurite.start()  # one for all
        with ThreadPoolExecutor(options.processes) as pool:
            outcomes = Outcomes(options.map / "outcomes.jsonl", forget=options.forget)

            def outcome(change: Change) -> Outcome:
                tests = known.tests_of(change.file, change.where)
                return outcomes.find(change, tests) or outcomes.keep(try_change(change, tests, Path(folder)), tests)

            done = list(_print_outcomes(pool.map(outcome, chosen), len(chosen), verbose=options.verbose))
            done = doubt(done)
    return report(done, time.monotonic() - start_s)


def equivalent() -> set[tuple[str, str]]:
    """Lines and changes of them that make no difference; the file has the reasons."""
    return {(one["line"], one["change"]) for one in tomllib.loads(EQUIVALENT.read_text("utf-8"))["equivalent"]}


def _all_changes() -> Iterator[Change]:
    files = sorted({file for pattern in SCOPE for file in PACKAGE.glob(pattern)})
    return (change for file in files for change in changes_of(file))


def survivors(report: str) -> list[Change]:
    """That the report of an earlier run lists at its end, wherever their lines are now. Those that make no difference, and
    those whose lines are gone, are left out."""
    _, _, listed = report.rpartition(" changes were noticed ")
    lines = listed.splitlines()[1:]
    wanted = {
        (place.strip().partition(":")[0], change, text.strip())
        for (place, _, change), text in zip(
            (one.strip().partition("  ") for one in lines[::3]), lines[1::3], strict=False
        )
    }
    known = equivalent()
    found: dict[tuple[str, str, str], list[Change]] = {}
    for change in _all_changes():
        if (change.text, str(change)) not in known:
            found.setdefault((change.place.partition(":")[0], str(change), change.text), []).append(change)
    for file, gone, _ in sorted(wanted - found.keys()):
        print(f"not tried again: {file}  {gone}")
    return [change for one in sorted(wanted & found.keys()) for change in found[one]]


def sample(size: int, seed: int, only: str = "") -> list[Change]:
    """By what the lines say, so that a sample stays as it is when code moves. Those that make no difference are left out."""
    known = equivalent()
    counts: Counter[tuple[str, str]] = Counter()
    found: list[tuple[str, Change]] = []
    for change in _all_changes():
        text = change.text, str(change)
        counts[text] += 1
        if text not in known:
            found.append((sha256(f"{seed} {counts[text]} {text}".encode()).hexdigest(), change))
    for line, gone in known - counts.keys():
        print(f"{EQUIVALENT.name}: no line says any more: {line}  {gone}")
    chosen = [change for _, change in sorted(found, key=lambda one: one[0])][:size]
    return [change for change in chosen if change.place.startswith(only)]


def try_change(change: Change, tests: Sequence[Candidate], folder: Path) -> Outcome:
    """The fastest tests first; then more of them, as long as there is time."""
    tried = 0
    for some in choose(tests, change.file.stem):
        if some:
            tried += len(some)
            noticed, by = run(change, some, folder)
            if noticed:
                return Outcome(change, tried, noticed, by)
    return Outcome(change, tried)


def doubt(done: Sequence[Outcome]) -> list[Outcome]:
    """A test that fails without the change as well has noticed nothing."""
    by = sorted({one.by for one in done if one.by})
    _, output = _pytest(by, dict(os.environ), 600 + 60 * len(by), "-q") if by else (0, "")
    failed = {_test_in(line, by) for line in _failures(output)}
    return [Outcome(one.change, one.tests) if one.by in failed else one for one in done]


def choose(tests: Sequence[Candidate], name: str = "") -> tuple[list[Candidate], list[Candidate]]:
    """The fastest of several files; then those that are about the file: those of the test file of its name, and others in
    the order of how much they tell in a second."""
    turns: Counter[str] = Counter()
    ordered: list[tuple[float, Candidate]] = []
    for test in sorted(tests, key=lambda one: one.seconds):
        turns[test.file] += 1  # the second of a file has to be twice as fast, the third three times
        ordered.append((turns[test.file] * test.seconds, test))
    first = _fitting([test for _, test in sorted(ordered, key=lambda one: one[0])], FIRST_S)
    others = set(tests) - set(first)
    own = sorted(
        (one for one in others if Path(one.file).stem == f"test_{name}"), key=lambda one: (one.seconds, one.id)
    )
    rest = sorted(others.difference(own), key=lambda one: (-one.rare / (one.seconds + START_S), one.seconds, one.id))
    return first, _fitting([*own, *rest], ALL_S)


def _fitting(tests: Sequence[Candidate], seconds: float) -> list[Candidate]:
    """The first of them in any case, then those that there is time for."""
    found: list[Candidate] = []
    made: set[str] = set()
    spent_s = 0.0
    for test in tests:
        cost_s = test.seconds + sum(took_s for name, took_s in test.shared if name not in made)
        if not found or spent_s + cost_s <= seconds:
            found.append(test)
            made.update(name for name, _ in test.shared)
            spent_s += cost_s
    return found


def _seconds(tests: Sequence[Candidate]) -> float:
    shared = {name: took_s for test in tests for name, took_s in test.shared}
    return sum(test.seconds for test in tests) + sum(shared.values())


def run(change: Change, tests: Sequence[Candidate], folder: Path) -> tuple[str, str]:
    """How a test failed, if one did, and which. What hangs is noticed as well, unless it does so without the change. Tests
    that are there no longer are left out."""
    handle, name = tempfile.mkstemp(suffix=".py", dir=folder)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(change.source)
    module = ".".join(change.file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    environment = os.environ | {"MUTANT_MODULE": module, "MUTANT_SOURCE": name, "PYTHONPATH": str(INJECT)}
    ids, limit_s = [test.id for test in tests], 60 + 5 * _seconds(tests)
    while ids:
        code, output = _pytest(ids, environment, limit_s, "-x")
        if code is None:
            without, _ = _pytest(ids, dict(os.environ), limit_s, "-x")
            return ("" if without is None else "it hangs"), ""
        gone = {one for one in ids if f"not found: {PROJECT / one}\n" in output}
        if not gone:
            failed = _failures(output)
            said = failed[0] if failed else output[-500:].strip() or f"exit code {code}"
            return ("", "") if code == 0 else (said, _test_in(said, ids))
        ids = [one for one in ids if one not in gone]
    return "", ""


def _failures(output: str) -> list[str]:
    return [line for line in output.splitlines() if line.startswith(("FAILED ", "ERROR "))]


def _test_in(line: str, ids: Sequence[str]) -> str:
    """The one that a line of the summary names; the first of its file, if the file could not even be imported."""
    said = line.partition(" ")[2]
    named = [one for one in ids if f"{said} ".startswith(f"{one} ")]
    return max(named, key=len) if named else next((one for one in ids if said.startswith(one.partition("::")[0])), "")


def _pytest(ids: Sequence[str], environment: Mapping[str, str], limit_s: float, option: str) -> tuple[int | None, str]:
    """Its exit code, None if it took too long, and what it said."""
    command = [sys.executable, "-m", "pytest", option, "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=no"]
    process = subprocess.Popen(
        [*command, "-p", "tests.mutants.order", *ids],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        return None, ""
    finally:
        _end(process)
    return process.returncode, output


def _end(process: subprocess.Popen[str]) -> None:
    """With all that its tests have started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _print_outcomes(outcomes: Iterator[Outcome], size: int, *, verbose: bool) -> Iterator[Outcome]:
    for number, one in enumerate(outcomes, 1):
        if verbose or not one.noticed:
            print(f"{number}/{size} {'noticed' if one.noticed else 'NOT NOTICED'}\n{one}", flush=True)
        yield one


def report(done: Sequence[Outcome], seconds: float) -> int:
    survivors = [one for one in done if not one.noticed]
    share = 1 - len(survivors) / len(done) if done else 0.0
    print(
        f"\n{len(done) - len(survivors)} of {len(done)} changes were noticed ({share:.1%}) in {seconds / 60:.0f} min."
    )
    for one in survivors:
        print(one)
    return 0 if share >= LEAST else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--only", default="", help="of these those whose place begins so: src/b24migrate/engine/jobs.py:71"
    )
    parser.add_argument("--survivors", type=Path, help="only those that this output of an earlier run lists at its end")
    parser.add_argument("--map", type=Path, default=PROJECT / ".cache" / "mutants", help="which tests run which line")
    parser.add_argument("--known", action="store_true", help="do not record again what tests run that have changed")
    parser.add_argument("--forget", action="store_true", help="try again what earlier runs have tried")
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
