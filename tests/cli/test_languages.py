"""The command line speaks the language of its reader; what an earlier command kept is said in it too."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import Scene, box, cloud
from typer.main import get_command

from b24migrate.cli import help as help_texts
from b24migrate.cli.commands import app
from b24migrate.config import DEFAULT_FILE
from b24migrate.messages import LANGUAGES, terminal

RUSSIAN = re.compile("[а-яё]{3}")


@pytest.fixture(autouse=True)
def no_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in terminal.LOCALE:
        monkeypatch.delenv(name, raising=False)


def test_an_error_code_is_explained_in_the_language_that_is_asked_for(scene: Scene) -> None:
    english, russian = (scene.run("--lang", one, "errors", "DUPLICATE_EMAIL").out for one in ("en", "ru"))
    assert "Retried automatically:" in english
    assert "Автоматический повтор:" in russian
    assert not RUSSIAN.search(english)


@pytest.mark.parametrize(
    ("variables", "language"),
    [
        ({"LANG": "ru_RU.UTF-8"}, "ru"),
        ({"LANG": "ru_RU.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LC_MESSAGES": "ru"}, "ru"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({}, "en"),
    ],
)
def test_the_locale_decides_when_nobody_else_does(variables: dict[str, str], language: str) -> None:
    assert terminal.of_locale(variables) == language


def test_option_before_configuration_before_locale(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.source, scene.target = "https://cloud.example/rest/1/a1b2c3/", "https://box.example/rest/1/d4e5f6/"
    assert not RUSSIAN.search(scene.run("status").out)
    monkeypatch.setenv("LANG", "ru_RU.UTF-8")
    assert "Ещё ничего не прочитано." in scene.run("status").out
    scene.more = '[run]\nlanguage = "en"\n'
    assert "Nothing is read yet." in scene.run("status").out
    assert "Ещё ничего не прочитано." in scene.run("--lang", "ru", "status").out


def test_a_language_that_nobody_speaks_is_refused(scene: Scene) -> None:
    result = scene.run("--lang", "fr", "status")
    assert (result.code, "Valid values: en, ru." in result.err) == (2, True)


def test_a_mistake_in_the_configuration_is_said_in_russian(scene: Scene) -> None:
    scene.source, scene.target = "https://cloud.example/rest/1/a1b2c3/", "https://box.example/rest/1/d4e5f6/"
    scene.more = '[run]\nworkers = "many"\n'
    result = scene.run("--lang", "ru", "status")
    assert (result.code, result.out) == (2, "")
    assert "строка 6: run.workers: текст; укажите целое число." in result.err


def test_what_a_run_kept_in_english_is_shown_in_russian(scene: Scene) -> None:
    """Notes, the reason of a gate and why a record failed lie in the store with their keys."""
    with cloud("--scopes", "user,department,im") as source, box() as target:
        scene.source, scene.target = source.webhook(), target.webhook()
        assert scene.run("run").code == 3
        again = scene.run("--lang", "ru", "run")
        assert "Заблокировано: не выполнено условие запуска." in again.out
        assert "шаг groups-get заблокирован: auth.cloud.groups: у вебхука облака нет права `sonet_group`." in again.out
        status = scene.run("--lang", "ru", "status").out
        assert "у вебхука облака нет права `user.userfield`: пользовательские поля сотрудников не переносятся" in status
        as_json = scene.run("--lang", "ru", "status", "--json").json
        assert not RUSSIAN.search(str(as_json["entities"]["users"]["notes"]))
        checks = scene.run("--lang", "ru", "doctor").out
        assert "✗ права: Группы: у вебхука облака нет права `sonet_group`" in checks
        assert "Запуск невозможен. Исправьте пункты с пометкой ✗." in checks


def test_a_russian_terminal_is_sent_to_the_russian_document(scene: Scene) -> None:
    assert "docs/errors.ru.md#duplicate_email" in scene.run("--lang", "ru", "errors", "DUPLICATE_EMAIL").out
    assert "docs/errors.md#duplicate_email" in scene.run("--lang", "en", "errors", "DUPLICATE_EMAIL").out


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, each in getattr(command, "commands", {}).items():
        yield from commands(each, (*path, name))


PATHS = [path for path, _ in commands(get_command(app))]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_command_and_every_parameter_has_help(language: str) -> None:
    terminal.choose(language)
    try:
        described = get_command(app)
        help_texts.describe(described)
    finally:
        terminal.forget()
    found = {
        (*path, parameter.name): parameter.help for path, command in commands(described) for parameter in command.params
    } | {path: command.help for path, command in commands(described)}
    assert len(found) > 100
    assert not [place for place, text in found.items() if not text]
    assert all(bool(RUSSIAN.search(text)) == (language == "ru") for text in found.values() if "…" not in text)


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_help_is_russian_for_a_russian_reader(scene: Scene, path: tuple[str, ...]) -> None:
    output = scene.run("--lang", "ru", *path, "--help").out
    assert "Использование: b24migrate" in output
    assert "Показать эту справку." in output
    assert not re.search("Usage|Options:|Arguments:|Commands:|Show this|default:|required", output)
    assert max(map(len, output.splitlines())) <= 80


def test_help_knows_the_language_before_anything_is_parsed(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    assert help_texts.CONFIGURATION == DEFAULT_FILE
    assert "Usage: b24migrate" in scene.run("run", "--help").out
    scene.more = '[run]\nlanguage = "ru"\n'
    assert "Использование: b24migrate run" in scene.run("run", "--help").out
    assert "Usage: b24migrate run" in scene.run("--lang=en", "run", "--help").out
    monkeypatch.setenv("B24MIGRATE_RUN__LANGUAGE", "en")
    assert "Usage: b24migrate run" in scene.run("run", "--help").out


def test_the_template_is_written_in_the_language_of_the_reader(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written = {}
    for language in LANGUAGES:
        assert scene.run("--config", f"{language}.toml", "--lang", language, "init").code == 0
        written[language] = Path(f"{language}.toml").read_text("utf-8")
    assert tomllib.loads(written["en"]) == tomllib.loads(written["ru"])
    optional = [re.findall(r"^# (\w+) = ", text, re.MULTILINE) for text in written.values()]
    assert optional[0] == optional[1] != []
    assert "Inbound webhook" in written["en"]
    assert "«Входящий вебхук»" in written["ru"]
    assert max(map(len, (written["en"] + written["ru"]).splitlines())) <= 120
