"""Who calls, on which portal; and how a method is described."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from b24sim.request import Params
from b24sim.result import Result

if TYPE_CHECKING:
    from b24sim.portal import Portal


@dataclass(frozen=True, slots=True)
class Caller:
    """The owner of a webhook, as whom every call runs."""

    user: int
    secret: str
    admin: bool
    scopes: tuple[str, ...] = ()

    @property
    def credential(self) -> str:
        return f"{self.user}/{self.secret}"


@dataclass(frozen=True, slots=True)
class Context:
    """One call: where, by whom, and how many bytes its body had."""

    portal: "Portal"
    caller: Caller
    body_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Method:
    """One REST method. `upper` methods take parameter names in any case; private ones hide from `methods`."""

    name: str
    scopes: tuple[str, ...]
    call: Callable[[Context, Params], Result]
    upper: bool = False
    private: bool = False
