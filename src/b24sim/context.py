"""The caller and the portal of a call; and the description of a method."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from b24sim.request import Params, Sent
from b24sim.result import Result

if TYPE_CHECKING:
    from b24sim.portal import Portal


@dataclass(frozen=True, slots=True)
class Caller:
    """The owner of a webhook, or the user who installed an application, as whom every call runs."""

    user: int
    secret: str
    admin: bool
    scopes: tuple[str, ...] = ()
    application: int = 0  # its number on the portal; 0: a webhook calls

    @property
    def credential(self) -> str:
        return f"{self.user}/{self.secret}"


@dataclass(frozen=True, slots=True)
class Context:
    """One call: where, by whom, and the request itself; a command of a batch has none of its own."""

    portal: "Portal"
    caller: Caller
    sent: Sent | None = None


@dataclass(frozen=True, slots=True)
class Method:
    """One REST method. `upper` methods take parameter names in any case; private ones hide from `methods`; those that
    read the body themselves get no parameters."""

    name: str
    scopes: tuple[str, ...]
    call: Callable[[Context, Params], Result]
    upper: bool = False
    private: bool = False
    reads_body: bool = False
