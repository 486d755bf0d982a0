"""The module for the box is sound PHP in one style, in small pieces, and its own tests pass."""

import subprocess
from pathlib import Path

import pytest

MODULE = Path(__file__).parents[2] / "box-module"
LENGTHS = MODULE / "tests" / "lengths.php"
LONGEST_FUNCTION = 40
COMPILE = "foreach (array_slice($argv, 1) as $file) { opcache_compile_file($file) || exit(1); }"


def php_files() -> list[Path]:
    return sorted(MODULE.rglob("*.php"))


def run(*command: object) -> tuple[int, str]:
    """How it ended and everything it said."""
    words = [str(word) for word in command]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=300, cwd=MODULE)
    return done.returncode, done.stdout + done.stderr


def long_functions(*files: Path) -> list[str]:
    status, output = run("php", LENGTHS, LONGEST_FUNCTION, *files)
    assert status == 0, output
    return output.splitlines()


def compile_files(*files: Path) -> tuple[int, str]:
    """As `php -l` does, all in one process: nothing is run."""
    return run("php", "-d", "opcache.enable_cli=1", "-r", COMPILE, "--", *files)


def test_every_file_is_php() -> None:
    status, output = compile_files(*php_files())
    assert status == 0, output


@pytest.mark.parametrize("wrong", ["class A { function f( {} }", "class A { function f() {} function f() {} }"])
def test_a_file_that_is_not_php_is_found(tmp_path: Path, wrong: str) -> None:
    (tmp_path / "a.php").write_text(f"<?php\n{wrong}\n")
    status, output = compile_files(*php_files()[:1], tmp_path / "a.php")
    assert status != 0
    assert "a.php" in output


def test_every_file_keeps_to_psr_12() -> None:
    status, output = run("phpcs", "-q", "--report=emacs", "--standard=phpcs.xml")
    assert status == 0, f"phpcs found:\n{output}"


def test_the_tests_in_php_pass() -> None:
    status, output = run("phpunit", "--configuration", "phpunit.xml", "--colors=never")
    assert status == 0, f"phpunit says:\n{output[-8000:]}"


def test_no_function_is_too_long() -> None:
    functions = long_functions(*php_files())
    assert not functions, "\n".join(functions)


def test_a_function_that_is_too_long_is_found(tmp_path: Path) -> None:
    def function(name: str, lines: int) -> str:
        return f"function {name}() {{\n" + '$a = "{$b}";\n' * (lines - 2) + "}\n"

    file = tmp_path / "a.php"
    file.write_text(f"<?php\n{function('short', LONGEST_FUNCTION)}{function('long', LONGEST_FUNCTION + 1)}")
    (line,) = long_functions(file)
    assert line == f"{file}:{LONGEST_FUNCTION + 2}: long has 41 lines, more than 40"
