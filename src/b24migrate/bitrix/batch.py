"""Many calls in one request, as the portal's `batch` wants them (bitrix24-rest-1 §A6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Raw

from b24migrate.bitrix.breaker import Attempt
from b24migrate.bitrix.client import Portal
from b24migrate.bitrix.envelope import BatchEnvelope, BatchParts, Head, keyed, times, whole
from b24migrate.bitrix.faults import of_code, of_raw
from b24migrate.errors import Limited, MigrationError, Permanent, Transient
from b24migrate.ports import Answer, Command
from b24migrate.records import Args, Json

SIZE = 50
_MOST_VARIABLES = 900  # PHP's max_input_vars, 1000 by default, cuts commands silently
# Any of these in a value is replaced by the portal, whoever wrote it.
_TRIGGERS = ("$result[", "$total[", "$next[", "$time[", "$error[")


@dataclass(frozen=True, slots=True)
class Ref:
    """A value that an earlier command of the same request will have produced."""

    command: int
    path: tuple[str | int, ...]

    def __str__(self) -> str:
        return f"$result[c{self.command}]" + "".join(f"[{step}]" for step in self.path)


def encode(command: Command) -> str:
    """`method?query`. The portal reads it as an address, so names and values are percent-encoded, once."""
    pairs = "&".join(f"{_quoted(name)}={_quoted(text)}" for name, text in flat(command.params))
    return f"{command.method}?{pairs}" if pairs else command.method


@lru_cache(maxsize=4096)  # the pages of a listing differ in one value
def _quoted(text: str) -> str:
    return quote(text, safe="")


def flat(params: Args) -> Iterator[tuple[str, str]]:
    """PHP bracket names. Null, and an empty list or map, cannot be expressed: they are left out."""
    for name, value in params.items():
        yield from _flat(str(name), value)


def fits(command: Command) -> bool:
    """Whether the command survives a batch; otherwise it has to be a call of its own."""
    pairs = list(flat(command.params))
    return len(pairs) <= _MOST_VARIABLES and not _dangerous(command.params)


def _flat(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _flat(f"{name}[{key}]", item)
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            yield from _flat(f"{name}[{place}]", item)
    elif isinstance(value, bool):
        yield name, str(int(value))
    elif value is not None:
        yield name, str(value)


def _dangerous(value: Json) -> bool:
    if isinstance(value, str):
        return "$" in value and any(trigger in value.lower() for trigger in _TRIGGERS)
    if isinstance(value, Mapping):
        return any(_dangerous(str(key)) or _dangerous(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return any(map(_dangerous, value))
    return False


class Batcher:
    def __init__(self, portal: Portal) -> None:
        self.portal = portal

    def single(self, command: Command, *, via: int = 0) -> Answer:
        envelope = self.portal.call(command.method, command.params, via=via)
        assert isinstance(envelope.result, Raw)  # noqa: S101 - an answer without a result is an error
        return Answer(bytes(envelope.result), None, whole(envelope.total), whole(envelope.next))

    def run(self, commands: Sequence[Command], *, via: int = 0) -> list[Answer]:
        """One answer per command, in order. Commands that refer to each other must be at most 50."""
        answers: dict[int, Answer] = {}
        together = []
        for place, command in enumerate(commands):
            if fits(command):
                together.append(place)
            else:
                answers[place] = self._alone(command, via)
        for start in range(0, len(together), SIZE):
            places = together[start : start + SIZE]
            answers.update(zip(places, self._request([commands[place] for place in places], via), strict=True))
        return [answers[place] for place in range(len(commands))]

    def _alone(self, command: Command, via: int) -> Answer:
        try:
            return self.single(command, via=via)
        except Permanent as error:
            return Answer(None, error)

    def _request(self, commands: Sequence[Command], via: int) -> list[Answer]:
        methods = tuple(dict.fromkeys(command.method for command in commands))
        sent_at = self.portal.clock.monotonic()
        request = {"halt": 0, "cmd": {f"c{place}": encode(command) for place, command in enumerate(commands)}}
        envelope = self.portal.ask("batch", request, BatchEnvelope, via=via, billed=methods)
        parts = envelope.result if isinstance(envelope.result, BatchParts) else BatchParts()
        self._learn(commands, keyed(parts.result_time), via)
        return self._judged(self._answers(commands, parts, via, sent_at), sent_at)

    def _answers(self, commands: Sequence[Command], parts: BatchParts, via: int, sent_at: float) -> list[Answer]:
        results, errors = keyed(parts.result), keyed(parts.result_error)
        totals, nexts = keyed(parts.result_total), keyed(parts.result_next)
        answers = []
        for place, command in enumerate(commands):
            key = f"c{place}"
            if key in errors:
                answers.append(Answer(None, self._error(errors[key], command.method, via, sent_at)))
            elif key in results:
                answers.append(Answer(bytes(results[key]), None, whole(totals.get(key)), whole(nexts.get(key))))
            else:
                answers.append(Answer(None, of_code("MISSING_ANSWER", command.method, status=500)))
        return answers

    def _judged(self, answers: list[Answer], sent_at: float) -> list[Answer]:
        """A command that fails while its neighbours succeed has itself to blame."""
        failed = [answer.error for answer in answers if isinstance(answer.error, Transient)]
        if failed:
            alone = all(answer.error for answer in answers)
            own = not alone or self.portal.breaker.own_fault(Attempt(failed[0].message, sent_at))
            for error in failed:
                error.own = own
        return answers

    def _error(self, raw: Raw, method: str, via: int, sent_at: float) -> MigrationError:
        try:
            head = msgspec.json.decode(raw, type=Head)
        except msgspec.DecodeError:
            return of_code("STRANGE_ANSWER", method)
        if not isinstance(head.error, Raw):
            return of_code("STRANGE_ANSWER", method)
        error = of_raw(head.error, head, method, self.portal.caller(via))
        error.message = self.portal.redactor.redact(error.message)
        return self.portal.limited(error, sent_at, method, via) if isinstance(error, Limited) else error

    def _learn(self, commands: Sequence[Command], spent: Mapping[str, Raw], via: int) -> None:
        """The last command of a method knows the sum of all before it."""
        tag = self.portal.webhooks[via].tag
        last = {command.method: f"c{place}" for place, command in enumerate(commands) if f"c{place}" in spent}
        for method, key in last.items():
            self.portal.governor.learned(tag, method, times(spent[key]))
