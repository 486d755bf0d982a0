"""Tables fit into a terminal of 80 columns, however large the company."""

from __future__ import annotations

from io import StringIO
from itertools import product

import pytest
from rich.console import Console

from b24migrate.cli.lanes import LaneReader, amount, lanes
from b24migrate.cli.progress import table
from b24migrate.cli.tables import status_lines
from b24migrate.entities import catalog
from b24migrate.model.records import Json

COUNTS = (
    "reported",
    "retrieved",
    "new",
    "import_ok",
    "import_err",
    "error_retry",
    "excluded",
    "deleted",
    "impossible",
    "mismatch",
)


def status(number: int, phase: str = "custom-fields-get", state: str = "running", **more: int) -> dict[str, Json]:
    counts = {**dict.fromkeys(COUNTS, number), **more}
    entities = {
        entity.name: {
            "verified": False,
            "phases": {phase: state},
            "streams": {stream.name: counts for stream in entity.streams},
            "notes": [],
        }
        for entity in catalog().entities
    }
    return {"run": "r", "entities": entities}


@pytest.mark.parametrize(
    ("number", "phase"), list(product([0, 7, 12_345, 123_456, 9_999_999], ["get", "verify", "custom-fields-get"]))
)
def test_the_status_fits_into_80_columns(number: int, phase: str) -> None:
    lines = status_lines(status(number, phase, new=number // 2, error_retry=0), 80)
    assert max(line.cell_len for line in lines) <= 80
    shown = lines[-1].plain.replace(" ", "")
    assert str(number) in shown


def test_with_room_every_column_is_shown() -> None:
    head = status_lines(status(0), 200)[0].plain.split()
    assert head == ["phase", "source", "read", "imported", "failed", "pending", "skipped", "different", "deleted"]


def test_without_room_empty_columns_go_first_but_never_the_failed() -> None:
    head = status_lines(status(0, reported=123_456, retrieved=123_456, import_ok=123_456), 80)[0].plain.split()
    assert head == ["phase", "source", "read", "imported", "failed"]


@pytest.mark.parametrize("number", [0, 9_999_999])
def test_the_progress_fits_into_80_by_24(number: int) -> None:
    fast = [lane._replace(rate=12_345.0, left_s=360_000.0) for lane in lanes(status(number))]
    out = StringIO()
    Console(file=out, width=80, force_terminal=True, no_color=True).print(table(fast + fast, 80, 24))
    lines = out.getvalue().splitlines()
    assert "4 d 4 h" in lines[0]
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 22
    assert lines[-1].startswith("… ")


def test_when_there_is_no_room_what_is_done_gives_way_to_what_runs() -> None:
    done, running = lanes(status(5, "get", "done")), lanes(status(5, "set"))[:20]
    out = StringIO()
    Console(file=out, width=80).print(table(done + running, 80, 24))
    assert out.getvalue().count("set") == len(running)


def test_a_delta_run_is_measured_against_what_it_found() -> None:
    """Not against all records, nearly all of which it neither reads nor sends."""
    reader, now_s = LaneReader(), iter(range(100))

    def shown(phase: str, new: int, state: str = "running") -> set[str]:
        found = {**status(1000, phase, state, new=new, error_retry=0), "delta": True}
        return {amount(lane) for lane in reader.read(found, float(next(now_s)))}

    assert shown("get", 0) == {""}
    assert shown("get", 3) == {"3"}
    assert shown("get", 8) == {"8"}
    assert shown("set", 8) == {"0/8"}
    assert shown("set", 2) == {"6/8"}
    assert shown("verify", 0) == {""}
