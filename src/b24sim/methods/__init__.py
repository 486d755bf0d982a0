"""The REST methods, one room per module of the portal."""

from b24sim.context import Method
from b24sim.methods import system, users


def all_methods() -> list[Method]:
    return [*system.METHODS, *users.METHODS]
