"""A mistake in the command line: what is wrong and what to do, in the reader's language, and exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from b24migrate import cli

# By what is typed: the first line in English and in Russian. Every form of the parser is here.
MISTAKES = {
    "show": ("The argument STREAM is missing.", "Не указан аргумент STREAM."),
    "statu": (
        "There is no command statu. Did you mean status?",
        "Команды statu нет. Возможно, вы имели в виду status?",
    ),
    "store bogus": ("There is no command bogus.", "Команды bogus нет."),
    "run --bogus": ("There is no option --bogus.", "Параметра --bogus нет."),
    "run --limit 5": (
        "There is no option --limit. Did you mean --test-limit?",
        "Параметра --limit нет. Возможно, вы имели в виду --test-limit?",
    ),
    "status x y": ("Too many arguments: x y.", "Лишние аргументы: x y."),
    "serve --port": ("The option --port needs a value.", "Для параметра --port нужно значение."),
    "run --json=5": ("The option --json takes no value.", "Параметр --json указывается без значения."),
    "serve --port abc": ("--port must be a whole number.", "--port: нужно целое число."),
    "analyze --sample x": ("--sample must be a number.", "--sample: нужно число."),
    "demo --users 1": ("--users must be 5 or more.", "--users: не меньше 5."),
    "serve --port 99999": ("--port must be 65535 or less.", "--port: не больше 65535."),
    "completion tcsh": (
        "shell cannot be tcsh. Valid values: bash, zsh, fish.",
        "shell: значения tcsh нет. Допустимые значения: bash, zsh, fish.",
    ),
}


@pytest.mark.parametrize("language", ["en", "ru"])
def test_a_mistake_is_a_sentence_with_the_way_out(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for typed, sentences in MISTAKES.items():
        assert cli.execute(["--lang", language, *typed.split()]) == 2, typed
        shown = capsys.readouterr()
        first, *rest = shown.err.splitlines()
        assert first == sentences[language == "ru"], typed
        assert rest[-1].startswith(("  → Help: b24migrate", "  → Справка: b24migrate")[language == "ru"]), typed
        assert shown.out == ""
        assert "Traceback" not in shown.err


def test_the_language_may_come_from_the_configuration_and_secrets_are_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("b24migrate.toml").write_text('[run]\nlanguage = "ru"\n', "utf-8")
    assert cli.execute(["run", "https://portal.example/rest/1/0123456789abcdef/"]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("Лишние аргументы: https://portal.example/rest/1/")
    assert "0123456789abcdef" not in shown
    assert "  → Использование: b24migrate run [OPTIONS]\n  → Справка: b24migrate run --help\n" in shown


def test_a_group_without_a_command_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["store"]) == 2
    assert capsys.readouterr().err.startswith("Usage: b24migrate store")
