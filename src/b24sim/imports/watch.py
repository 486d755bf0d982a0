"""Facts about a client for tests, and failures that a test requests. Nothing here changes a record."""

import hashlib
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from fnmatch import fnmatchcase

from b24sim.imports.kinds import Fields, ItemFault

MESSAGES = "chat_messages"
EXPONENT = re.compile(r"(?<=[:,\[])(-?\d[\d.]*)e(?:\+|(-))0*(\d)")


@dataclass
class ScriptedFailure:
    key_glob: str
    code: str
    retry: bool
    times_left: int


@dataclass
class Waiting:
    """A message that failed in `call` and may come again; `overtaken` once a later call brought a later one.

    One that failed for good (no `retry`) is passed over, even if it is repaired later."""

    call: int
    retry: bool
    overtaken: bool = False


class Watch:
    def __init__(self) -> None:
        self.order_violations = 0
        self.digest_mismatches = 0
        self._failures: list[ScriptedFailure] = []
        self._call = 0
        self._highest: dict[str, int] = {}
        self._waiting: defaultdict[str, dict[int, Waiting]] = defaultdict(dict)

    def fail_item(self, key_glob: str, code: str, *, retry: bool, times: int) -> None:
        if times > 0:
            self._failures.append(ScriptedFailure(key_glob, code, retry, times))

    def scripted_failure(self, key: str) -> None:
        for failure in self._failures:
            if fnmatchcase(key, failure.key_glob):
                failure.times_left -= 1
                self._failures = [other for other in self._failures if other.times_left > 0]
                raise ItemFault(failure.code, None, f"{key}: {failure.code} as scripted", retry=failure.retry)

    def digest(self, digest: str, fields: Fields) -> None:
        """Numbers count as they are spelled in the body, which is not known here: an exponent has two spellings."""
        canonical = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        spellings = (canonical, EXPONENT.sub(r"\1e\2\3", canonical))
        if digest not in (hashlib.sha256(one.encode("utf-8", "surrogatepass")).hexdigest() for one in spellings):
            self.digest_mismatches += 1

    def next_call(self) -> None:
        self._call += 1

    def created(self, stream: str, key: str, fields: object) -> None:
        """Out of order is a message that a later one preceded; a repeated one, if a later call overtook it."""
        place = _place_in_chat(stream, key, fields)
        if place is None:
            return
        chat, number = place
        waited = self._waiting[chat].pop(number, None)
        if waited is not None:
            self.order_violations += waited.overtaken and waited.retry
        else:
            self._arrived(chat, number)
        for other, waiting in self._waiting[chat].items():
            waiting.overtaken |= other < number and waiting.call < self._call

    def failed(self, stream: str, key: str, fields: object, fault: ItemFault) -> None:
        place = _place_in_chat(stream, key, fields)
        if place is None:
            return
        chat, number = place
        waited = self._waiting[chat].get(number)
        if waited is None:
            self._arrived(chat, number)
        self._waiting[chat][number] = Waiting(self._call, fault.retry, waited is not None and waited.overtaken)

    def _arrived(self, chat: str, number: int) -> None:
        highest = self._highest.setdefault(chat, number)
        self.order_violations += number < highest
        self._highest[chat] = max(number, highest)


def _place_in_chat(stream: str, key: str, fields: object) -> tuple[str, int] | None:
    """The chat on the target and the source's message id, which ends the key."""
    number = key.rpartition(":")[2]
    if stream != MESSAGES or not isinstance(fields, dict) or not re.fullmatch(r"[0-9]{1,18}", number):
        return None
    return str(fields.get("chat_id")), int(number)
