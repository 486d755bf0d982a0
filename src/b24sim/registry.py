"""Which methods a portal has, found the way a portal finds them."""

from collections.abc import Callable, Iterable

from b24sim.context import Method

# Methods that a module's controllers serve: `methods` does not know them, only `method.get` does.
CONTROLLERS = (
    "crm.item.", "crm.type.", "crm.category.", "userfieldconfig.", "tasks.", "socialnetwork.api.", "im.v2.",
    "catalog.",
)  # fmt: skip


class Registry:
    """Old names are case-insensitive; controller names must be spelled as documented."""

    def __init__(self, methods: Iterable[Method], more: Callable[[str], Method | None] = lambda _name: None):
        self._methods = {method.name: method for method in methods}
        self._lower = {name.lower(): method for name, method in self._methods.items()}
        self._more = more

    def find(self, name: str) -> Method | None:
        lower = self._methods.get(name.lower())
        return lower or self._methods.get(name) or self._more(name.lower())

    def by_lower_name(self, name: str) -> Method | None:
        return self._lower.get(name)

    def controller_of(self, name: str) -> Method | None:
        """A method of the controller that a name belongs to, whether or not that has an action of the name: the action
        is the last part, and what comes before it is the controller (module main, Engine\\Resolver)."""
        controller = name.lower().rpartition(".")[0]
        if not name.lower().startswith(CONTROLLERS):
            return None
        return next((method for key, method in self._lower.items() if key.rpartition(".")[0] == controller), None)

    def public(self) -> list[Method]:
        """The answer of `methods`."""
        shown = (method for method in self._methods.values() if not method.private)
        return [method for method in shown if not method.name.startswith(CONTROLLERS)]
