"""`make mutants` in small: a change is noticed, another is not, a third is run by no test."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.mutants.__main__ import choose, try_change
from tests.mutants.changes import Change, changes_of
from tests.mutants.coverage_map import PACKAGE, Candidate

BREAKER = PACKAGE / "bitrix" / "breaker.py"
OPENS = "tests/bitrix/test_breaker.py::test_three_failures_and_a_failed_probe_open_it"
FILES = "tests/unit/test_values.py"


def change(text: str, after: str) -> Change:
    (found,) = [one for one in changes_of(BREAKER) if one.text == text and one.after == after]
    return found


@pytest.mark.parametrize(
    ("tests", "noticed"),
    [([OPENS], f"FAILED {OPENS}"), ([FILES], ""), ([], "")],
)
def test_a_change_is_noticed_by_the_tests_that_run_it(tests: list[str], noticed: str, tmp_path: Path) -> None:
    later = change("_FAILURES_TO_OPEN = 3", "4")
    outcome = try_change(later, [Candidate(one, 0.1) for one in tests], tmp_path)
    assert outcome.noticed[: len(noticed)] == noticed
    assert bool(outcome.noticed) == bool(noticed)
    assert ("no test runs it" in str(outcome)) == (not tests)
    assert "src/b24migrate/bitrix/breaker.py" in str(outcome)


def test_every_change_of_a_file_can_be_compiled_and_differs() -> None:
    before = BREAKER.read_text("utf-8")
    found = changes_of(BREAKER)
    assert len(found) > 50
    for one in found:
        compile(one.source, str(BREAKER), "exec")
        assert one.source != before


def test_then_come_those_of_the_file_with_the_same_name() -> None:
    quick = [Candidate(f"tests/a.py::test_{number}", 1.0) for number in range(5)]
    rare, own = Candidate("tests/b.py::test_rare", 3.0, rare=9.0), Candidate("tests/engine/test_undo.py::test_it", 8.0)
    assert choose([*quick, rare, own], "undo") == (quick, [own, rare])
    assert choose([*quick, rare, own], "other") == (quick, [rare, own])


def test_fast_tests_of_several_files_come_first() -> None:
    tests = [Candidate(f"tests/a.py::test_{number}", 0.1 * number) for number in range(1, 4)]
    other, slow = Candidate("tests/b.py::test_other", 0.3), Candidate("tests/c.py::test_slow", 4.0)
    assert choose([*tests, other, slow])[0] == [tests[0], other, *tests[1:], slow]
    assert sum(map(len, choose([Candidate(str(number), 7.0) for number in range(100)]))) < 20
