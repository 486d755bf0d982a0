"""Up to fifty commands in one request, each able to use what the earlier ones returned."""

import re
from typing import Any

from b24sim.context import Caller
from b24sim.envelope import Timing
from b24sim.errors import RestError
from b24sim.limits import BATCH
from b24sim.paging import truthy
from b24sim.phpjson import Parts, Rows, decode, php_array
from b24sim.portal import Portal
from b24sim.request import Params, parse_query
from b24sim.result import Result

MAX_COMMANDS = 50
FORBIDDEN = {"batch", "upload", "download"}
_REFERENCE = re.compile(r"\$(result|total|next|time|error)((?:\[[^\[\]]*\])+)")
_STEP = re.compile(r"\[([^\[\]]*)\]")


class Batch:
    """One run of a batch; the five maps fill up as commands finish."""

    def __init__(self, portal: Portal, caller: Caller):
        self._portal = portal
        self._caller = caller
        self.result: dict[str, Any] = {}
        self.error: dict[str, Any] = {}
        self.total: dict[str, Any] = {}
        self.next: dict[str, Any] = {}
        self.time: dict[str, Any] = {}
        self.cost_s = 0.0
        self._now = portal.clock.now()

    @property
    def timing(self) -> Timing:
        """Of the whole request. If its commands are charged separately, the batch itself has used nothing, and reports
        that."""
        operating, began, ended = self._portal.operating, self._now, self._now + self.cost_s
        if operating is None:
            return Timing(began, ended)
        if not operating.on_batch:
            return Timing(began, ended, 0.0, int(began) + 600)
        who = self._caller.credential
        return Timing(began, ended, operating.seconds(who, BATCH, began), operating.reset_at(who, BATCH, began))

    def run(self, params: Params) -> Result:
        if self._portal.operating and self._portal.operating.on_batch:
            self._portal.operating.check(self._caller.credential, BATCH, self._now)
        asked = {key.upper(): value for key, value in params.items()}
        commands = asked.get("CMD")
        if isinstance(commands, list):
            commands = {str(place): command for place, command in enumerate(commands)}
        for place, (key, command) in enumerate((commands or {}).items()):
            # Anything but a string is skipped without a word.
            if isinstance(command, str):
                self._command(key, command, place)
            if self.error and truthy(asked.get("HALT")):
                break
        maps = {name: php_array(getattr(self, name)) for name in ("result", "error", "total", "next", "time")}
        return Result(
            Parts({"result" if name == "result" else f"result_{name}": entries for name, entries in maps.items()})
        )

    def _command(self, key: str, command: str, place: int) -> None:
        name, _, query = command.partition("?")
        try:
            if place >= MAX_COMMANDS:
                raise RestError("ERROR_BATCH_LENGTH_EXCEEDED", "Max batch length exceeded")
            if name.lower() in FORBIDDEN:
                raise RestError("ERROR_BATCH_METHOD_NOT_ALLOWED", "Method is not allowed for batch usage")
            self._portal.stats.inner[name] += 1
            self._portal.stats.carried[name] += place == 0
            answer = self._portal.call(self._caller, self._portal.method(name), self._params(query))
        except RestError as refusal:
            self._portal.stats.errors[str(refusal.code)] += 1
            self.error[key] = refusal.body()
            return
        self.cost_s += answer.cost_s
        self.result[key] = answer.result.value
        if answer.result.total is not None:
            self.total[key] = answer.result.total
        if answer.result.next is not None:
            self.next[key] = answer.result.next
        self.time[key] = answer.timing.encoded(self._portal.company.moments)

    def _params(self, query: str) -> Params:
        params = parse_query(query.partition("#")[0])
        if "$" not in query and "%24" not in query:
            return params
        substituted: Params = self._substituted(params)
        return substituted

    def _substituted(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._substituted(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._substituted(item) for item in value]
        if "$" not in value:
            return value
        only = _REFERENCE.fullmatch(value)
        if only:
            return self._resolved(only)
        return _REFERENCE.sub(self._embedded, value)

    def _embedded(self, match: re.Match[str]) -> str:
        """Inside other text only scalars take a reference's place."""
        found = self._resolved(match)
        return match.group() if isinstance(found, (dict, list)) else _php_text(found)

    def _resolved(self, match: re.Match[str]) -> Any:
        """Follow the path as far as it exists: a wrong path gives the deepest node there is, and no error."""
        node: Any = getattr(self, match.group(1))
        for step in _STEP.findall(match.group(2)):
            node = _opened(node)
            child = _child(node, step)
            if child is _MISSING:
                break
            node = child
        return _plain(node)


_MISSING = object()


def _opened(node: Any) -> Any:
    return decode(node) if isinstance(node, bytes) else node


def _child(node: Any, step: str) -> Any:
    if isinstance(node, dict):
        return node.get(step, _MISSING)
    if isinstance(node, list) and step.isdigit() and int(step) < len(node):
        return node[int(step)]
    return _MISSING


def _plain(node: Any) -> Any:
    if isinstance(node, bytes):
        return decode(node)
    if isinstance(node, Rows):
        return [decode(row) for row in node]
    if isinstance(node, dict):
        # Whole answers are of no use as a value: all that PHP makes of one is whether it is empty.
        return {key: "" if isinstance(item, (bytes, Rows, dict)) else item for key, item in node.items()}
    return node if isinstance(node, list) else _php_text(node)


def _php_text(value: Any) -> str:
    if value is None or value is False:
        return ""
    return "1" if value is True else str(value)
