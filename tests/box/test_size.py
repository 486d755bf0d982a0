"""The module can be read in an evening, and its README says truly how; what it promises not to do it does not."""

import re
from pathlib import Path

import pytest

MODULE = Path(__file__).parents[2] / "box-module" / "b24migrate.import"
README = (MODULE / "README.md").read_text("utf-8")
MOST_LINES = {"lib/Port": 206, "lib/Contract": 900, "lib/Api": 1025, "lib/Rest": 67, "lib/Kernel": 4400, ".": 7000}
"""Of those that say something, by room: an evening is enough for them, and some lines, such as the lists of standard
activities and of the kernel's methods, are read at a glance. What a real kernel refuses costs lines."""
LONGEST_FILE = 250
SAYS_NOTHING = re.compile(r"\s*|\s*[][{}();,]+|(use|namespace|declare)\b.*|<\?php|(defined|PHP_SAPI)\b.* \|\| exit;")
PROMISED_AWAY = re.compile(
    r"HttpClient|\bcurl_|\bfsockopen|\bstream_socket_client|\b(shell_|pcntl_)?exec\(|\bsystem\(|\bpassthru\(|\bproc_open|"
    r"\bpopen\(|\beval\(|\bunserialize\(|->(query|queryExecute|Query)\(|\b(SELECT|INSERT INTO|DELETE FROM)\b"
)


def sources(room: str) -> list[Path]:
    found = sorted((MODULE / room).rglob("*.php"))
    assert found, f"the room {room} is empty"
    return found


def lines_in(file: Path) -> int:
    return sum(not SAYS_NOTHING.fullmatch(line) for line in file.read_text("utf-8").splitlines())


@pytest.mark.parametrize("room", MOST_LINES)
def test_a_room_does_not_grow_unnoticed(room: str) -> None:
    lines = sum(map(lines_in, sources(room)))
    assert lines <= MOST_LINES[room], f"{room} has {lines} lines that say something: make it shorter, or say why not"


def test_no_file_is_long() -> None:
    lengths = {str(file.relative_to(MODULE)): len(file.read_text("utf-8").splitlines()) for file in sources(".")}
    assert not {name: lines for name, lines in lengths.items() if lines > LONGEST_FILE}


def test_the_readme_names_what_is_there() -> None:
    rooms = [
        path for path in re.findall(r"`([a-z][\w./]*)`", README) if path.split("/")[0] in {"lib", "install", "cli"}
    ]
    assert not [path for path in rooms if not (MODULE / path).exists()]


def test_the_readme_leads_to_every_room_and_to_every_file_but_the_plainest_gateways() -> None:
    named = set(re.findall(r"`(\w+)`", README)) | {Path(path).stem for path in re.findall(r"`([\w./]+)`", README)}
    files = {file.stem for room in ("lib/Port", "lib/Contract", "lib/Api", "lib/Rest") for file in sources(room)}
    assert files - named <= {"Json", "Inspection", "Lookup"}


def test_the_module_opens_no_connection_runs_no_program_and_has_no_sql() -> None:
    wrong = [
        f"{file.relative_to(MODULE)}:{number}: {line.strip()}"
        for file in sources(".")
        for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1)
        if PROMISED_AWAY.search(line)
    ]
    assert not wrong, "\n".join(wrong)
