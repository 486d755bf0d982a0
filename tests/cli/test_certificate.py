"""`certificate` as a person uses it: what it says, and with which exit code it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.command import SOURCE_SECRET, TARGET_SECRET, Scene
from tests.cli.test_bad_input import is_clear

FILE = Path("certificate.jsonl")


def test_it_is_written_and_holds(moved: Scene) -> None:
    result = moved.run("certificate")
    is_clear(result, 0, "Written: certificate.jsonl", "migrated and verified", "Root hash ")
    root = result.out.split()[-1]
    again = moved.run("certificate", "check", str(FILE))
    is_clear(again, 0, "Valid: certificate.jsonl", root)
    before = FILE.read_bytes()
    assert SOURCE_SECRET.encode() not in before
    assert TARGET_SECRET.encode() not in before
    assert moved.run("certificate", "--out", "other.jsonl").code == 0
    assert Path("other.jsonl").read_bytes() == before
    assert not list(Path().glob("*.new"))


def test_json_is_nothing_but_json(moved: Scene) -> None:
    made = moved.run("certificate", "--json").json
    assert (made["holds"], made["exit_code"], made["file"]) == (True, 0, str(FILE))
    assert made["streams"]["groups"]["retrieved"] == 4
    assert sum(made["sums"].values()) == sum(b'"class":' in line for line in FILE.read_bytes().splitlines())
    assert moved.run("certificate", "check", str(FILE), "--json").json == made
    FILE.write_bytes(FILE.read_bytes().replace(b'"groups"', b'"Groups"'))
    broken = moved.run("certificate", "check", str(FILE), "--json")
    assert (broken.code, broken.json["exit_code"], broken.json["holds"]) == (5, 5, False)
    assert broken.json["code"] == "CERTIFICATE_BROKEN"


def test_a_check_needs_nothing_but_the_file(moved: Scene, tmp_path: Path) -> None:
    moved.run("certificate")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    FILE.rename(elsewhere / "it")
    program = (
        "import socket, sys; socket.socket = None; from b24migrate import cli; sys.exit(cli.execute(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", program, "certificate", "check", "it"]
    ended = subprocess.run(command, cwd=elsewhere, env={}, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "Valid" in ended.stdout
    assert [path.name for path in elsewhere.iterdir()] == ["it"]


def test_none_before_the_end(company: Scene) -> None:
    is_clear(company.run("certificate"), 4, "Nothing is migrated yet", "b24migrate run")
    company.run("get", "users")
    result = company.run("certificate", "--json")
    assert (result.code, result.json["exit_code"], result.json["code"]) == (4, 4, "CERTIFICATE_INCOMPLETE")
    assert "users-set is pending" in result.json["message"]
    assert not FILE.exists()


def test_none_of_a_try_out(company: Scene) -> None:
    company.run("run", "--test-limit", "2")
    is_clear(company.run("certificate"), 5, "departments", "test limit", "without --test-limit")
    assert not FILE.exists()


def test_an_earlier_one_stays_when_there_is_none(company: Scene) -> None:
    FILE.write_text("earlier")
    company.run("certificate")
    assert FILE.read_text() == "earlier"


@pytest.mark.parametrize("content", ["", "this is a letter to my mother\n", "{}\n"])
def test_something_else_is_no_certificate(scene: Scene, content: str) -> None:
    FILE.write_text(content)
    is_clear(scene.run("certificate", "check", str(FILE)), 2, "certificate.jsonl is not a certificate")


def test_mistaken_places(moved: Scene) -> None:
    is_clear(moved.run("certificate", "check", "nowhere"), 2, "nowhere cannot be read")
    is_clear(moved.run("certificate", "check"), 2, "FILE")
    Path("taken").mkdir()
    for place in ("nowhere/it", "b24migrate.db/it", "taken"):
        is_clear(moved.run("certificate", "--out", place), 4, f"{place} cannot be written", "--out")
    assert not list(Path().glob("*.new"))


def test_a_broken_one_says_which_line(moved: Scene) -> None:
    moved.run("certificate")
    lines = FILE.read_bytes().splitlines(keepends=True)
    one = json.loads(lines[5])
    lines[5] = lines[5].replace(one["id"].encode(), b"77", 1)
    FILE.write_bytes(b"".join(lines))
    is_clear(moved.run("certificate", "check", str(FILE)), 5, "line 6", "root hash")
