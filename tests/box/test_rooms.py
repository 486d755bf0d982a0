"""Which room of the module knows which: only the gateways and what the box calls know the kernel."""

import re
from pathlib import Path

import pytest

LIB = Path(__file__).parents[2] / "box-module" / "b24migrate.import" / "lib"
MAY_KNOW = {
    "Contract": {"Contract"},
    "Port": {"Port", "Contract"},
    "Api": {"Api", "Port", "Contract"},
    "Kernel": {"Kernel", "Port", "Contract"},
}
ROOM = re.compile(r"B24migrate\\Import\\(\w+)\\")
KERNEL_WORD = re.compile(r"\bBitrix\\|(?<![\w$>:'])\\C[A-Z]\w+|\$GLOBALS|\bglobal \$")


def sources(room: str) -> list[Path]:
    found = sorted((LIB / room).rglob("*.php"))
    assert found, f"the room {room} is empty"
    return found


@pytest.mark.parametrize("room", MAY_KNOW)
def test_a_room_opens_only_doors_that_lead_inwards(room: str) -> None:
    wrong = [
        f"{file.relative_to(LIB)} knows {known}"
        for file in sources(room)
        for known in set(ROOM.findall(file.read_text("utf-8"))) - MAY_KNOW[room]
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("room", ["Contract", "Port", "Api"])
def test_nothing_of_the_kernel_is_named_outside_its_gateways(room: str) -> None:
    wrong = [
        f"{file.relative_to(LIB)}:{number}: {line.strip()}"
        for file in sources(room)
        for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1)
        if KERNEL_WORD.search(line)
    ]
    assert not wrong, "\n".join(wrong)
