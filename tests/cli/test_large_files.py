"""A file larger than memory should hold: memory stays flat, a killed run continues, `analyze` lists what is too large."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import Scene, box, cloud

from b24sim.company.messages import FILE_BASE
from b24sim.downloads import Habit
from b24sim.serve import Running

MB = 1 << 20
SIZE = 130 * MB + 1
CHUNK = 4 * MB  # as the box takes it
MOST_MB = 200  # of the whole process, whatever the size of a file
SLACK = 32 * MB  # a block that is not sure yet, and what the sockets of a killed process held
TALK = ("--entity", "users", "--entity", "groups", "--entity", "chats")


@dataclass
class Large:
    """A portal whose first file is the large one, a box, and the command."""

    scene: Scene
    source: Running
    target: Running

    def run(self) -> tuple[int, float]:
        """The exit code and the peak of memory in MB."""
        process = self.start()
        assert process.stderr is not None
        lines: list[str] = []
        reader = threading.Thread(target=lambda: lines.append(process.stderr.read()))  # type: ignore[union-attr]
        reader.start()
        peak_mb = 0.0
        while process.poll() is None:  # the figure of wait4 has what its parent held when it was forked
            peak_mb = max(peak_mb, _peak_mb(process.pid))
            time.sleep(0.05)
        reader.join()
        process.stderr.close()
        assert process.returncode == 0, lines
        return process.returncode, peak_mb

    def start(self) -> subprocess.Popen[str]:
        return self.scene.process("run", *TALK, on=subprocess.DEVNULL, cwd=self.scene.folder)

    def kill_when(self, far_enough: Callable[[], bool]) -> None:
        process = self.start()
        until = time.monotonic() + 300
        while not far_enough() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.005)
        assert process.poll() is None, "it ended before it could be killed"
        process.kill()
        process.communicate()

    @property
    def downloaded(self) -> int:
        return self.source.portal.stats.downloaded_bytes

    @property
    def puts(self) -> int:
        return self.target.portal.stats.methods["import.files.put"]

    def assert_arrived(self) -> None:
        company = self.source.portal.company
        found = company.file(FILE_BASE + 20)
        assert found is not None
        assert Habit.by_number(found[0].id) is Habit.WEB_SERVER
        rows: dict[str, Any] = {str(row["key"]): row["fields"] for row in self.target.portal.imports.dump("files")}
        assert rows[f"source:file:disk:{found[0].id}"]["size"] == SIZE  # which the box says of a digest that is right


def _peak_mb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), 0.0)


@pytest.fixture
def large(scene: Scene) -> Iterator[Large]:
    with (
        cloud("--messages", "63", "--foreign-chats", "0", "--large-files", str(SIZE)) as source,
        box() as target,
    ):
        scene.source, scene.target = source.webhook(), target.webhook()
        yield Large(scene, source, target)


def test_a_large_file_moves_at_flat_memory(large: Large) -> None:
    code, peak_mb = large.run()
    assert code == 0
    large.assert_arrived()
    print(f"peak {peak_mb:.0f} MB")
    assert peak_mb < MOST_MB


def test_killed_while_it_downloads_and_while_it_uploads_it_goes_on_by_the_part(large: Large) -> None:
    large.kill_when(lambda: large.downloaded > 70 * MB)
    large.kill_when(lambda: large.puts > 15)
    assert large.downloaded < SIZE + SLACK
    large.run()
    large.assert_arrived()
    print(f"downloaded {large.downloaded - SIZE:,} bytes twice")
    assert large.downloaded < SIZE + SLACK
    others = 3 + 2 * len(large.target.portal.imports.dump("files"))
    assert large.puts <= -(-SIZE // CHUNK) + 2 + others


def test_analyze_names_what_is_too_large_before_anything_starts(scene: Scene) -> None:
    with (
        cloud("--messages", "63", "--foreign-chats", "0", "--large-files", f"{SIZE},3e9") as source,
        box("--largest-file", "120e6") as target,
    ):
        scene.source, scene.target = source.webhook(), target.webhook()
        files = [source.portal.company.file(FILE_BASE + number) for number in (20, 41)]
        result = scene.run("analyze")
        data = scene.run("analyze", "--json").json
        scene.more = '[run]\nentities = ["users", "groups", "chats"]\nlargest_file_mb = 1000\n'
        target.portal.imports._limits = type(target.portal.imports._limits)()  # the box takes a gigabyte
        within = scene.run("analyze", "--json").json
        scene.more = '[run]\nentities = ["users", "groups", "chats"]\nlargest_file_mb = 5000\n'
        target.portal.imports._limits = type(target.portal.imports._limits)(file_bytes=4_000_000_000)
        none = scene.run("analyze", "--sample", "1")
        assert not target.portal.imports.dump("files")
    first, second = ((one[0].name, one[0].size) for one in files if one)
    assert result.code == 0
    for name, size in ((first[0], "136.3 MB"), (second[0], "3.0 GB")):
        line = next(line for line in result.out.splitlines() if size in line)
        assert name in line
    assert "are larger than the limit of 120.0 MB" in " ".join(result.out.split())
    assert "No file is larger than the limit of 4.0 GB." in " ".join(none.out.split())
    assert max(map(len, result.out.splitlines())) <= 80
    assert [(one["name"], one["bytes"]) for one in data["large_files"]] == [second, first]
    assert (data["file_limit"], within["file_limit"]) == (120_000_000, 1_000_000_000)
    assert [one["bytes"] for one in within["large_files"]] == [3_000_000_000]
