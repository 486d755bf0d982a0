"""Configuration and secrets in files that are neither: each is one sentence, and none is read without end."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.test_settings import GOOD, SECRET, complaint

from b24migrate.config import load
from b24migrate.model.errors import BadConfiguration

HUGE = 2 << 20


@pytest.mark.parametrize("levels", [30, 900, 100_000])
@pytest.mark.parametrize("ends", ["[]", "{}"])
def test_a_deep_file_is_one_sentence(tmp_path: Path, levels: int, ends: str) -> None:
    opened = ends[0] if ends == "[]" else "{a="
    text = f"{GOOD}\nodd = {opened * levels}{'1' if ends == '{}' else ''}{ends[1] * levels}"
    assert "b24migrate.toml" in complaint(tmp_path, text)


@pytest.mark.parametrize("levels", [900, 100_000])
def test_a_deep_variable_is_one_sentence(tmp_path: Path, levels: int) -> None:
    deep = "[" * levels + "]" * levels
    assert "run.entities" in complaint(tmp_path, GOOD, B24MIGRATE_RUN__ENTITIES=deep)


@pytest.mark.parametrize("endless", [False, True])
def test_a_file_that_is_too_large_is_not_read_to_its_end(tmp_path: Path, endless: bool) -> None:
    file = Path("/dev/zero") if endless else tmp_path / "b24migrate.toml"
    if not endless:
        file.write_bytes(b"#" * HUGE)
    with pytest.raises(BadConfiguration, match="1 MB"):
        load(file, environ={})


@pytest.mark.parametrize("endless", [False, True])
def test_a_secret_that_is_too_large_is_not_read_to_its_end(tmp_path: Path, endless: bool) -> None:
    (tmp_path / "secret").write_bytes(b"x" * HUGE)
    name = "/dev/zero" if endless else "secret"
    text = GOOD.replace(f"https://cloud.example/rest/1/{SECRET}/", f"file:{name}")
    assert "cannot be read" in complaint(tmp_path, text)


def test_a_store_whose_name_no_file_can_have_is_one_sentence(tmp_path: Path) -> None:
    assert "is not a store" in complaint(tmp_path, GOOD + '\n[store]\nurl = "sqlite:///a\\u0000b"\n')
