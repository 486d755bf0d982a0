"""Files: each once, in a folder that only the webhook's owner sees, large ones by the way of large ones."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from tests.engine.test_odd_values import alter_answers
from tests.targets.everything import moving

from b24migrate.entities.feed import rest_comments, rest_rules
from b24migrate.model.errors import Permanent, Transient
from b24migrate.model.fidelity import Keeping
from b24migrate.model.records import Item, Staged
from b24migrate.ports import CUSTOM_FIELDS, RegisterRow
from b24migrate.targets.rest import box, files
from b24migrate.targets.rest.target import RestTarget

SMALL, LARGE = b"plan", b"x" * (files.AT_ONCE_BYTES + 1)


@pytest.mark.parametrize("data", [SMALL, LARGE], ids=["small", "large"])
def test_a_file_is_uploaded_once_even_when_the_answer_gets_lost(tmp_path: Path, data: bytes) -> None:
    with moving(tmp_path, "users") as move, move.app() as app:
        target, drive = app.context.target, move.world.box.portal.company.drive

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


@pytest.mark.parametrize("odd", [[1], None, 0, "0", True, "../7", "x"])
def test_an_answer_that_names_no_file_counts_as_lost(tmp_path: Path, odd: Any) -> None:
    with moving(tmp_path, "users") as move, move.app() as app:
        target, drive = app.context.target, move.world.box.portal.company.drive
        honest = alter_answers(move.world.box.portal, "disk.folder.uploadfile", lambda said: {**said, "ID": odd})
        about = ("source:file:disk:5", "plan.pdf", len(SMALL), hashlib.sha256(SMALL).hexdigest())
        with pytest.raises(Transient):
            target.put_file(*about, io.BytesIO(SMALL))
        honest()
        assert drive.files.keys() == {int(target.put_file(*about, io.BytesIO(SMALL)) or 0)}


class Watched(io.BytesIO):
    """Several files may be under way at once: none of them may be in memory as a whole."""

    def read(self, size: int | None = -1, /) -> bytes:
        assert size is not None
        assert 0 < size < len(LARGE)
        return super().read(size)


def test_a_large_file_is_sent_piece_by_piece(tmp_path: Path) -> None:
    with moving(tmp_path, "users") as move, move.app() as app:
        digest = hashlib.sha256(LARGE).hexdigest()
        number = app.context.target.put_file("source:file:disk:5", "Plän.pdf", len(LARGE), digest, Watched(LARGE))
        kept = move.world.box.portal.company.drive.files[int(number or 0)].file
        assert (kept.name, kept.size) == ("Plän.pdf", len(LARGE))


def test_two_files_of_one_name_keep_it(tmp_path: Path) -> None:
    with moving(tmp_path, "users") as move, move.app() as app:
        made = [
            app.context.target.put_file(f"source:file:disk:{one}", "plan.pdf", 4, "0" * 64, io.BytesIO(SMALL))
            for one in (1, 2)
        ]
        drive = move.world.box.portal.company.drive
        assert [drive.files[int(one or 0)].file.name for one in made] == ["plan.pdf", "plan.pdf"]


def test_a_file_in_a_custom_field_of_a_person_arrives_however_many_it_takes(tmp_path: Path) -> None:
    with moving(tmp_path, "users") as move, move.app() as app:
        target, codes = app.context.target, ("UF_USR_SCAN", "UF_USR_SCANS")
        traits = {"type": "file", "sort": 100, "label": {"en": "Scan"}, "settings": {}, "options": []}
        wishes = [{"code": code, "multiple": code.endswith("S"), **traits} for code in codes]
        assert [one.status for one in target.fields("users", "users", wishes)] == ["created"] * 2
        app.context.store.write(CUSTOM_FIELDS, [made(code) for code in codes])
        digest = hashlib.sha256(SMALL).hexdigest()
        number = target.put_file("source:file:disk:5", "scan.pdf", len(SMALL), digest, io.BytesIO(SMALL))
        person = {"EMAIL": "ann@example.org", "ACTIVE": True, "UF_DEPARTMENT": ["1"]}
        for name, scans in (("Ann", [number]), ("Anne", [number, number])):
            item = Item.make("source:users:5", {**person, "NAME": name, "UF_USR_SCAN": number, "UF_USR_SCANS": scans})
            (outcome,) = target.send("users", "users", [item], run="r")
            assert outcome.status in ("created", "updated")
            there = target.read("users", "users", [item.key])[item.key].fields
            assert there["UF_USR_SCAN"]["id"]
            assert [bool(one["id"]) for one in there["UF_USR_SCANS"]] == [True] * len(scans)


def made(code: str) -> RegisterRow:
    return RegisterRow(code, {"TargetField": code, "Type": "file"}, partition="users")


def test_what_goes_inside_a_call_may_be_less_large_than_what_lies_on_the_drive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call is in memory as a whole, here and on the box; only the Drive has another way."""
    for module in (files, box, rest_rules):
        monkeypatch.setattr(module, "INSIDE_BYTES", 10)
    data = b"x" * 11
    digest = hashlib.sha256(data).hexdigest()
    with moving(tmp_path, "users") as move, move.app() as app:
        target = app.context.target
        for kind in ("disk", "attached"):
            assert target.put_file(f"source:file:{kind}:5", "film.mp4", len(data), digest, io.BytesIO(data))
        for kind in ("crm", "user", "group", "chat"):
            with pytest.raises(Permanent) as caught:
                target.put_file(f"source:file:{kind}:5", "film.mp4", len(data), digest, io.BytesIO(data))
            assert caught.value.code == "TOO_LARGE"
        small = target.put_file("source:file:disk:6", "a.txt", 4, hashlib.sha256(SMALL).hexdigest(), io.BytesIO(SMALL))
        large = target.put_file("source:file:disk:5", "film.mp4", len(data), digest, io.BytesIO(data))
        assert isinstance(target, RestTarget)
        sent = list(rest_comments.fit_files(target._box, [str(small), str(large)]))
        assert [name for name, _ in sent] == ["a.txt"]
        about = {"kind": "disk", "id": "5", "size": 11}
        app.context.store.stage(rest_rules.FILES, [Staged("disk:5", json.dumps(about).encode())], run="r", pass_no=1)
        lost = next(one for one in rest_rules.comment_rules(target._box) if one.keeping is Keeping.LOST)
        assert [lost.judge()({"files": keys}) for keys in (["disk:5"], ["disk:6"], [], None)] == [
            True,
            False,
            False,
            False,
        ]


def test_a_file_over_what_a_box_takes_is_not_sent(tmp_path: Path) -> None:
    with moving(tmp_path, "users") as move, move.app() as app:
        target = app.context.target
        assert target.file_bytes() == 1 << 30
        with pytest.raises(Permanent) as caught:
            target.put_file("source:file:disk:5", "film.mp4", (1 << 30) + 1, "0" * 64, io.BytesIO(b""))
        assert caught.value.code == "TOO_LARGE"
        assert "disk.folder.uploadfile" not in move.world.box.portal.stats.methods
