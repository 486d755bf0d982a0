"""Many calls in one request of the method `batch` (bitrix24-rest-1 §A6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import Raw

from b24migrate.bitrix.breaker import Attempt
from b24migrate.bitrix.budget import BATCH
from b24migrate.bitrix.client import Portal
from b24migrate.bitrix.envelope import (
    UNREADABLE,
    BatchEnvelope,
    BatchParts,
    Head,
    One,
    Part,
    Times,
    as_map,
    decode_part,
    times,
    whole,
)
from b24migrate.bitrix.faults import code_error, raw_error
from b24migrate.bitrix.permissions import SCOPES, Done, is_repeatable, refusals
from b24migrate.model.errors import Limited, MigrationError, Permanent, Transient
from b24migrate.model.records import Args, Json
from b24migrate.ports import Answer, Bill, Command
from b24migrate.ports.quota import REQUEST_S

SIZE = 50
_MOST_VARIABLES = 900  # PHP's max_input_vars, 1000 by default, cuts commands silently
_PAUSES_S = (1.0, 2.0)
P = ParamSpec("P")
T = TypeVar("T")
_REFERENCE = "%24result%5B"  # in a command; anything else that looks like one goes alone
# The portal replaces any of these in a value.
_TRIGGERS = ("$result[", "$total[", "$next[", "$time[", "$error[")


@dataclass(frozen=True, slots=True)
class Ref:
    """The result of an earlier command of the same request."""

    command: int
    path: tuple[str | int, ...]

    def __str__(self) -> str:
        return f"$result[c{self.command}]" + "".join(f"[{step}]" for step in self.path)


def encode(command: Command) -> str:
    """`method?query`. The portal reads it as an address, so names and values are percent-encoded, once."""
    pairs = "&".join(f"{_quote(name)}={_quote(text)}" for name, text in flatten(command.params))
    return f"{command.method}?{pairs}" if pairs else command.method


@lru_cache(maxsize=4096)  # the pages of a listing differ in one value
def _quote(text: str) -> str:
    return quote(text, safe="")


def flatten(params: Args) -> list[tuple[str, str]]:
    """PHP bracket names. Null, and an empty list or map, cannot be expressed: they are omitted."""
    found: list[tuple[str, str]] = []
    for name, value in params.items():
        _flatten(str(name), value, found)
    return found


def fits(command: Command) -> bool:
    """Whether the command survives a batch; otherwise it has to be a call of its own."""
    return _fits(command, encode(command))


def _fits(command: Command, text: str) -> bool:
    return text.count("&") < _MOST_VARIABLES and not ("%24" in text and _is_dangerous(command.params))


def _flatten(name: str, value: Any, found: list[tuple[str, str]]) -> None:
    if isinstance(value, str):  # the most frequent first: whether something is a map takes long to find out
        found.append((name, str(value)))
    elif isinstance(value, int):
        found.append((name, str(int(value))))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _flatten(f"{name}[{key}]", item, found)
    elif isinstance(value, (list, tuple)):
        for place, item in enumerate(value):
            _flatten(f"{name}[{place}]", item, found)
    elif value is not None:
        found.append((name, str(value)))


def _is_dangerous(value: Json) -> bool:
    if isinstance(value, str):
        return "$" in value and any(trigger in value.lower() for trigger in _TRIGGERS)
    if isinstance(value, (Ref, int)):
        return False
    if isinstance(value, Mapping):
        return any(_is_dangerous(str(key)) or _is_dangerous(item) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return any(map(_is_dangerous, value))
    return False


class BatchAnswer(NamedTuple, Generic[One]):
    """The result of one command, or its error."""

    result: One | None
    error: MigrationError | None = None
    total: int | None = None
    next: int | None = None


class Batcher:
    def __init__(self, portal: Portal) -> None:
        self.portal = portal

    def single(self, command: Command, *, via: int = 0) -> Answer:
        envelope = self.portal.call(command.method, command.params, via=via)
        assert isinstance(envelope.result, Raw)  # noqa: S101 - an answer without a result is an error
        return Answer(bytes(envelope.result), None, whole(envelope.total), whole(envelope.next))

    def room(self, methods: Sequence[str], *, via: int = 0) -> int:
        """How many of these commands fit into the next request: fewer if the remaining execution time is short."""
        return self.portal.governor.budget.room(self.portal.webhooks[via].tag, methods[:SIZE])

    def run(self, commands: Sequence[Command], *, via: int = 0) -> list[Answer]:
        """One answer per command, in order. Commands that refer to each other must be at most 50."""
        answers = self._match_answers(commands, via, BatchEnvelope[Raw], lambda raw: raw, patient=True)
        return [
            Answer(None if one.result is None else bytes(one.result), one.error, one.total, one.next) for one in answers
        ]

    def pages(self, commands: Sequence[Command], *, via: int = 0) -> list[BatchAnswer[Part]]:
        """The same for pages of records, which are decoded into parts at once: that saves another pass over
        megabytes."""
        return self._match_answers(commands, via, BatchEnvelope[Part], decode_part)

    def page(self, command: Command, *, via: int = 0) -> BatchAnswer[Part]:
        """One page in a call of its own."""
        result, _, total, following = self.single(command, via=via)
        return BatchAnswer(decode_part(result or b"null"), None, total, following)

    def _match_answers(
        self,
        commands: Sequence[Command],
        via: int,
        shape: type[BatchEnvelope[One]],
        opened: Callable[[Raw], One],
        *,
        patient: bool = False,
    ) -> list[BatchAnswer[One]]:
        answers: dict[int, BatchAnswer[One]] = {}
        texts: dict[int, str] = {}
        for place, command in enumerate(commands):
            text = encode(command)
            if _fits(command, text):
                texts[place] = text
            else:
                answers[place] = self._send_alone(command, via, opened)
        together = list(texts)
        linked = any(_REFERENCE in text for text in texts.values())
        while together:
            # Commands that refer to one another cannot be divided: their caller checks the room first.
            size = SIZE if linked else self.room([commands[place].method for place in together[:SIZE]], via=via)
            places, together = together[:size], together[size:]
            sent = [(commands[place], texts[place]) for place in places]
            try:
                given = self.patiently(self._request, sent, via, shape) if patient else self._request(sent, via, shape)
            except Limited as error:
                if not answers:
                    raise
                given = [BatchAnswer(None, error)] * len(places)  # earlier answers are kept
            answers.update(zip(places, given, strict=True))
        limits = [one.error for one in answers.values() if isinstance(one.error, Limited)]
        for limit in limits:
            limit.midway = len(limits) < len(answers)
        return [answers[place] for place in range(len(commands))]

    def patiently(self, ask: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Repeats only this read. If the whole job were repeated for each failure, a job of many reads would never
        end on an unstable portal."""
        for pause_s in _PAUSES_S:
            try:
                return ask(*args, **kwargs)
            except Transient as error:
                if not error.own:
                    raise
            self.portal.clock.sleep(pause_s)
        return ask(*args, **kwargs)

    def _send_alone(self, command: Command, via: int, opened: Callable[[Raw], One]) -> BatchAnswer[One]:
        try:
            result, _, total, following = self.single(command, via=via)
        except Permanent as error:
            return BatchAnswer(None, error)
        return BatchAnswer(opened(Raw(result or b"null")), None, total, following)

    def _request(
        self, sent: Sequence[tuple[Command, str]], via: int, shape: type[BatchEnvelope[One]]
    ) -> list[BatchAnswer[One]]:
        commands = [command for command, _ in sent]
        sent_at = self.portal.clock.monotonic()
        request = {"halt": 0, "cmd": {f"c{place}": text for place, (_, text) in enumerate(sent)}}
        envelope = self._ask(request, [command.method for command in commands], via, shape)
        parts = envelope.result if isinstance(envelope.result, BatchParts) else BatchParts[One]()
        self._learn(commands, as_map(parts.result_time), times(envelope.time), via)
        answers = self._judge(self._answers(commands, parts, via, sent_at), sent_at)
        return self._check_permission(sent, answers, via)

    def _ask(
        self, request: Args, methods: Sequence[str], via: int, shape: type[BatchEnvelope[One]]
    ) -> BatchEnvelope[One]:
        governor, sent_at = self.portal.governor, self.portal.clock.monotonic()
        try:
            with governor.reserved(self.portal.webhooks[via].tag, methods):
                return self.portal.ask(BATCH, request, shape, via=via, billed=tuple(dict.fromkeys(methods)))
        except Transient as error:
            if error.code == "TIMEOUT" or self.portal.clock.monotonic() - sent_at > REQUEST_S:
                governor.budget.overdue(methods)
            raise

    def _answers(
        self, commands: Sequence[Command], parts: BatchParts[One], via: int, sent_at: float
    ) -> list[BatchAnswer[One]]:
        results, errors = as_map(parts.result), as_map(parts.result_error)
        totals, nexts = as_map(parts.result_total), as_map(parts.result_next)
        answers: list[BatchAnswer[One]] = []
        for place, command in enumerate(commands):
            key = f"c{place}"
            if key in errors:
                answers.append(BatchAnswer(None, self._error(errors[key], command.method, via, sent_at)))
            elif key in results:
                answers.append(BatchAnswer(results[key], None, whole(totals.get(key)), whole(nexts.get(key))))
            else:
                answers.append(BatchAnswer(None, code_error("MISSING_ANSWER", command.method, status=500)))
        return answers

    def _judge(self, answers: list[BatchAnswer[One]], sent_at: float) -> list[BatchAnswer[One]]:
        """A command that fails while others of the request succeed fails on its own."""
        failed = [answer.error for answer in answers if isinstance(answer.error, Transient)]
        if failed:
            alone = all(answer.error for answer in answers)
            own = not alone or self.portal.breaker.own_fault(Attempt(failed[0].message, sent_at))
            for error in failed:
                error.own = own
        return answers

    def _check_permission(
        self, sent: Sequence[tuple[Command, str]], answers: list[BatchAnswer[One]], via: int
    ) -> list[BatchAnswer[One]]:
        """Raises GateUnmet when more than single records are refused."""
        permissions = self.portal.permissions
        answered: dict[str, list[Args]] = {}
        for (command, text), answer in zip(sent, answers, strict=True):
            if answer.error is None and is_repeatable(command.method, text):
                answered.setdefault(command.method, []).append(command.params)
            if command.method == SCOPES and isinstance(answer.result, Raw):
                permissions.has_scopes(via, bytes(answer.result))
        for method, calls in answered.items():
            permissions.answered(via, method, calls)
        if not refusals(answer.error for answer in answers):
            return answers
        done = [
            Done(command.method, command.params, answer.error)
            for (command, _), answer in zip(sent, answers, strict=True)
        ]
        instead = permissions.judge_batch(done, via)
        return [answer._replace(error=instead.get(place, answer.error)) for place, answer in enumerate(answers)]

    def _error(self, raw: Raw, method: str, via: int, sent_at: float) -> MigrationError:
        try:
            head = msgspec.json.decode(raw, type=Head)
        except UNREADABLE:
            return code_error("STRANGE_ANSWER", method)
        if not isinstance(head.error, Raw):
            return code_error("STRANGE_ANSWER", method)
        error = raw_error(head.error, head, method, self.portal.caller(via))
        error.message = self.portal.redactor.redact(error.message)
        payer = BATCH if self.portal.governor.billing == "batch" else method
        return self.portal.limited(error, sent_at, payer, via) if isinstance(error, Limited) else error

    def _learn(self, commands: Sequence[Command], spent: Mapping[str, Raw], of_batch: Times, via: int) -> None:
        """The last command of a method has the newest sum. Failed commands have no time."""
        governor, tag = self.portal.governor, self.portal.webhooks[via].tag
        timed: dict[str, list[Times]] = {}
        for place, command in enumerate(commands):
            if f"c{place}" in spent:
                timed.setdefault(command.method, []).append(times(spent[f"c{place}"]))
        governor.budget.took({method: [one.duration for one in each] for method, each in timed.items()})
        inside = (one.operating for each in timed.values() for one in each)
        own = governor.budget.is_charged_inside(of_batch.operating, inside)
        for method, each in timed.items() if own else ():
            governor.learned(tag, method, each[-1])
        if governor.meter:
            for bill in _bills(timed, of_batch, via, self.portal.took_s, own=own):
                governor.meter(bill)


def _bills(
    timed: Mapping[str, Sequence[Times]], of_batch: Times, via: int, took_s: float, *, own: bool
) -> Iterator[Bill]:
    """One bill for each method; one for `batch` where the portal charges that: then commands only have a duration."""
    for method, each in timed.items():
        first, last = (each[0].operating, each[-1].operating) if own else (None, None)
        yield Bill(via, method, len(each), first, last, sum(one.duration for one in each) / len(each), took_s)
        took_s = 0.0
    if not own:
        yield Bill(via, BATCH, 0, of_batch.operating, of_batch.operating, of_batch.duration, took_s)
