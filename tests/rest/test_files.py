"""Files: each once, in a folder that only the webhook's owner sees, large ones by the way of large ones."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import pytest
from tests.rest.everything import moving

from b24migrate.errors import Transient
from b24migrate.ports import CUSTOM_FIELDS, RegisterRow
from b24migrate.records import Item
from b24migrate.target.rest import files

SMALL, LARGE = b"plan", b"x" * (files.AT_ONCE_BYTES + 1)


@pytest.mark.parametrize("data", [SMALL, LARGE], ids=["small", "large"])
def test_a_file_is_uploaded_once_even_when_the_answer_gets_lost(tmp_path: Path, data: bytes) -> None:
    with moving(tmp_path, "users") as move, move.app() as app:
        target, drive = app.work.target, move.world.box.portal.company.drive

        def put() -> str | None:
            digest = hashlib.sha256(data).hexdigest()
            return target.put_file("source:file:disk:5", "plan.pdf", len(data), digest, io.BytesIO(data))

        move.world.strike_box(
            {"method": "disk.folder.uploadfile", "kind": "lost", "at": [1]},
            {"method": "upload", "kind": "lost", "at": [1]},
        )
        numbers = []
        for _ in range(4):
            try:
                numbers.append(put())
            except Transient:
                continue
        assert len(set(numbers)) == 1
        assert len(drive.files) == 1
        assert drive.files[int(numbers[0] or 0)].file.size == len(data)


class Watched(io.BytesIO):
    """Several files may be under way at once: none of them may be in memory as a whole."""

    def read(self, size: int | None = -1, /) -> bytes:
        assert size is not None
        assert 0 < size < len(LARGE)
        return super().read(size)


def test_a_large_file_is_sent_piece_by_piece(tmp_path: Path) -> None:
    with moving(tmp_path, "users") as move, move.app() as app:
        digest = hashlib.sha256(LARGE).hexdigest()
        number = app.work.target.put_file("source:file:disk:5", "Plän.pdf", len(LARGE), digest, Watched(LARGE))
        kept = move.world.box.portal.company.drive.files[int(number or 0)].file
        assert (kept.name, kept.size) == ("Plän.pdf", len(LARGE))


def test_two_files_of_one_name_keep_it(tmp_path: Path) -> None:
    with moving(tmp_path, "users") as move, move.app() as app:
        made = [
            app.work.target.put_file(f"source:file:disk:{one}", "plan.pdf", 4, "0" * 64, io.BytesIO(SMALL))
            for one in (1, 2)
        ]
        drive = move.world.box.portal.company.drive
        assert [drive.files[int(one or 0)].file.name for one in made] == ["plan.pdf", "plan.pdf"]


def test_a_file_in_a_custom_field_of_a_person_arrives_however_many_it_takes(tmp_path: Path) -> None:
    with moving(tmp_path, "users") as move, move.app() as app:
        target, codes = app.work.target, ("UF_USR_SCAN", "UF_USR_SCANS")
        traits = {"type": "file", "sort": 100, "label": {"en": "Scan"}, "settings": {}, "options": []}
        wishes = [{"code": code, "multiple": code.endswith("S"), **traits} for code in codes]
        assert [one.status for one in target.fields("users", "users", wishes)] == ["created"] * 2
        app.work.store.write(CUSTOM_FIELDS, [made(code) for code in codes])
        digest = hashlib.sha256(SMALL).hexdigest()
        number = target.put_file("source:file:disk:5", "scan.pdf", len(SMALL), digest, io.BytesIO(SMALL))
        person = {"EMAIL": "ann@example.org", "ACTIVE": True, "UF_DEPARTMENT": ["1"]}
        for name, scans in (("Ann", [number]), ("Anne", [number, number])):
            item = Item.of("source:users:5", {**person, "NAME": name, "UF_USR_SCAN": number, "UF_USR_SCANS": scans})
            (outcome,) = target.send("users", "users", [item], run="r")
            assert outcome.status in ("created", "updated")
            there = target.read("users", "users", [item.key])[item.key].fields
            assert there["UF_USR_SCAN"]["id"]
            assert [bool(one["id"]) for one in there["UF_USR_SCANS"]] == [True] * len(scans)


def made(code: str) -> RegisterRow:
    return RegisterRow(code, {"TargetField": code, "Type": "file"}, partition="users")
