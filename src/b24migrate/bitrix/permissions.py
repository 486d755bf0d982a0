"""Whether a refusal concerns one record, one method or everything. One judge for each portal.

A portal says ACCESS_DENIED both for one record that its user may not see and for every request of a portal whose plan
has lapsed (_includes/system-errors.md of the vendor's documentation: "REST API is available only on commercial plans").
So what is refused is held against what the same webhook was granted before: such a call is repeated. When it is refused
too, the webhook has lost its permissions and the run stops; when it is answered, the refusal is the record's own.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from itertools import islice
from typing import NamedTuple, Protocol

import msgspec

from b24migrate.bitrix.fault_table import scope_of
from b24migrate.bitrix.faults import Caller
from b24migrate.errors import Forbidden, GateUnmet, Limited, MigrationError, Transient
from b24migrate.ports import ANALYSIS, RegisterRow, Store
from b24migrate.records import Args, Json

# ACCESS_ERROR is about one dialog, and an empty code with the text "Access denied" about one record (bitrix24-rest-1).
CODES = frozenset(
    {
        "ACCESS_DENIED",
        "insufficient_scope",
        "user_access_error",
        "METHOD_CONFIRM_DENIED",
        "BITRIX_REST_V3_EXCEPTION_ACCESSDENIEDEXCEPTION",
        "BITRIX_REST_V3_EXCEPTION_INSUFFICIENTSCOPEEXCEPTION",
    }
)
OF_METHODS = CODES | {"METHOD_CONFIRM_WAITING"}  # the other gates are the webhook's as a whole
LOST = "ACCESS_LOST"
BLOCKED = "ADDRESS_BLOCKED"
FORBIDDEN = "METHOD_REFUSED"
PAGE_403 = "HTTP_403"
SCOPES = "scope"  # the method that lists them
ANYBODY = ("profile", "server.time")  # what every webhook may call, whatever its scopes
_KEPT = 3  # calls of each method that were answered: one alone may be about a record that was closed since
_ENOUGH = 3  # refused calls of a method that was never granted before it is said that the method is refused
AGAIN = "Then run the same command again: progress is saved."

Ask = Callable[[str, Args, int], MigrationError | None]


class Memory(Protocol):
    """What a webhook was granted, also in earlier runs."""

    def recall(self, tag: str, method: str) -> Sequence[Args]: ...

    def remember(self, tag: str, method: str, calls: Sequence[Args]) -> None: ...


class StoredMemory:
    def __init__(self, store: Store) -> None:
        self._store = store

    def recall(self, tag: str, method: str) -> Sequence[Args]:
        row = self._store.read(ANALYSIS, _key(tag, method))
        calls: Json = row.values.get("Data") if row else None
        return calls if isinstance(calls, list) else []

    def remember(self, tag: str, method: str, calls: Sequence[Args]) -> None:
        self._store.write(ANALYSIS, [RegisterRow(_key(tag, method), {"Data": list(calls)})])


def _key(tag: str, method: str) -> str:
    return f"granted:{tag}:{method.lower()}"


class Done(NamedTuple):
    """One command of a request and how it ended."""

    method: str
    params: Args
    error: MigrationError | None


class _Proof(Enum):
    GRANTED = "granted"
    LOST = "lost"
    UNKNOWN = "unknown"


class Permissions:
    def __init__(self, ask: Ask, caller: Callable[[int], Caller], tag: Callable[[int], str]) -> None:
        """`ask` calls a method and returns the error it ended with; its refusals are not judged again."""
        self.probes: tuple[str, ...] = ANYBODY
        self.memory: Memory | None = None  # with one, calls are repeated: they only read
        self._ask = ask
        self._caller = caller
        self._tag = tag
        self._lock = threading.Lock()
        self._granted: dict[tuple[str, str], deque[Args]] = {}
        self._scopes: dict[str, frozenset[str]] = {}
        self._never: dict[tuple[str, str], set[str]] = {}  # different calls of a method that was never granted

    # ------------------------------------------------------------ what was answered

    def answered(self, via: int, method: str, params: Args) -> None:
        if self.memory is None:
            return
        tag = self._tag(via)
        with self._lock:
            calls = self._granted.setdefault((tag, method), deque(maxlen=_KEPT))
            known = len(calls)
            if params not in calls:
                calls.append(params)
            kept = list(calls) if known < _KEPT and len(calls) > known else []
        if kept:
            self.memory.remember(tag, method, kept)

    def has_scopes(self, via: int, result: bytes) -> None:
        """As the portal says: what is granted now and refused later was taken away in between."""
        said = msgspec.json.decode(result)
        if isinstance(said, list):
            self._scopes[self._tag(via)] = frozenset(map(str, said))

    # ------------------------------------------------------------ what was refused

    def of_call(self, error: MigrationError, method: str, via: int) -> MigrationError:
        """What the refusal of a whole request means."""
        if error.code == PAGE_403:
            return self._blocked(method, via) or _own(error)
        if error.code not in CODES or isinstance(error, GateUnmet):
            return error
        if method == "batch":  # it needs no permission of its own
            return self._everything(error, via)
        proof = self._prove(method, via)
        if proof is _Proof.LOST:
            return self._lost(error, method, via)
        if proof is _Proof.UNKNOWN and self._refuses_everything(via):
            return self._everything(error, via)
        return error

    def of_batch(self, done: Sequence[Done], via: int) -> Mapping[int, MigrationError]:
        """What to say instead of single errors. Raises GateUnmet when the webhook has lost what it was granted. Where
        a call is answered after one that was refused, only records are refused."""
        for one in done:
            if isinstance(one.error, GateUnmet) and one.error.code not in OF_METHODS and self.memory is not None:
                raise one.error  # it is not about one record
        last = {one.method: one for one in done}
        suspects = [method for method, one in last.items() if one.error is not None and one.error.code in CODES]
        instead: dict[int, MigrationError] = {}
        for method in suspects:
            error = last[method].error
            assert error is not None  # noqa: S101
            refused = [place for place, one in enumerate(done) if one.method == method and one.error]
            proof = self._prove(method, via)
            if proof is _Proof.LOST or (proof is _Proof.UNKNOWN and self._had_scope(error, method, via)):
                raise self._lost(error, method, via)
            if proof is _Proof.GRANTED:
                continue
            if all(one.error for one in done) and self._refuses_everything(via):
                raise self._everything(error, via)
            if isinstance(error, GateUnmet) or self.memory is None:
                continue
            if self._count(method, via, [done[place].params for place in refused]) >= _ENOUGH:
                instead |= dict.fromkeys(refused, self._forbidden(error, method, via))
        return instead

    # ------------------------------------------------------------ proofs

    def _prove(self, method: str, via: int) -> _Proof:
        """Repeats calls that were answered before. Raises Limited or Transient where the portal cannot be asked."""
        if self.memory is None:
            return _Proof.UNKNOWN
        tag = self._tag(via)
        with self._lock:
            here = list(self._granted.get((tag, method), ()))
        for params in here or self.memory.recall(tag, method):
            if not self._refused(method, params, via):
                return _Proof.GRANTED
            here = here or [params]
        return _Proof.LOST if here else _Proof.UNKNOWN

    def _refuses_everything(self, via: int) -> bool:
        return all(self._refused(method, {}, via) for method in self.probes)

    def _refused(self, method: str, params: Args, via: int) -> bool:
        error = self._ask(method, params, via)
        if isinstance(error, Limited | Transient):
            raise error
        return error is not None and (error.code in CODES or isinstance(error, GateUnmet))

    def _count(self, method: str, via: int, calls: Iterable[Args]) -> int:
        """How many different calls were refused so far: a request may hold no more than one."""
        with self._lock:
            known = self._never.setdefault((self._tag(via), method), set())
            known.update(str(params) for params in islice(calls, _ENOUGH) if len(known) < _ENOUGH)
            return len(known)

    def _had_scope(self, error: MigrationError, method: str, via: int) -> bool:
        return "scope" in error.code.lower() and scope_of(method) in self._scopes.get(self._tag(via), ())

    def _blocked(self, method: str, via: int) -> GateUnmet | None:
        """A firewall may dislike one request, or keep this machine out."""
        if method not in self.probes:
            answers = (self._ask(probe, {}, via) for probe in self.probes)
            if any(error is None or error.code != PAGE_403 for error in answers):
                return None
        who, gate = self._caller(via)
        text = (
            f"the portal answers all requests of {who} with HTTP 403 and a web page: it blocks this machine's address."
        )
        hint = f"Ask the network administrator or the vendor's support to allow this address. {AGAIN}"
        return GateUnmet(gate, text, code=BLOCKED, hint=hint)

    # ------------------------------------------------------------ sentences

    def _everything(self, error: MigrationError, via: int) -> GateUnmet:
        who, gate = self._caller(via)
        text = (
            f"the portal refuses all requests of {who} ({error.code}): the plan has lapsed, or the webhook lost access."
        )
        hint = f"Check the portal's plan and Market subscription, the webhook and its owner. {AGAIN}"
        return GateUnmet(gate, text, code=LOST, hint=hint)

    def _lost(self, error: MigrationError, method: str, via: int) -> GateUnmet:
        everything = method in self.probes or self._refuses_everything(via)
        return self._everything(error, via) if everything else self._method_lost(error, method, via)

    def _method_lost(self, error: MigrationError, method: str, via: int) -> GateUnmet:
        who, gate = self._caller(via)
        text = f"the portal no longer allows {method} to {who} ({error.code})."
        return GateUnmet(gate, text, code=LOST, hint=f"{_tick(method)} Check the rights of its owner too. {AGAIN}")

    def _forbidden(self, error: MigrationError, method: str, via: int) -> Forbidden:
        who, gate = self._caller(via)
        text = f"the portal does not allow {method} to {who} ({error.code}). Records are incomplete without it."
        hint = f"Give the webhook's owner access to these records. {_tick(method)} {AGAIN}"
        stop = GateUnmet(gate, text, code=FORBIDDEN, hint=hint)
        return Forbidden(error.message, code=error.code, hint=error.hint, gate=stop)


def _own(error: MigrationError) -> MigrationError:
    """Others are answered, so this request is to blame."""
    if isinstance(error, Transient):
        error.own = True
    return error


def _tick(method: str) -> str:
    scope = scope_of(method)
    return f"Add the scope `{scope}` to the webhook." if scope else "Check the webhook's scopes."


def repeatable(method: str, params: Args, text: str) -> Args | None:
    """A command that refers to another one's result means nothing by itself."""
    return None if "%24" in text or method == "batch" else params


def refusals(errors: Iterable[MigrationError | None]) -> bool:
    return any(error is not None and (error.code in CODES or isinstance(error, GateUnmet)) for error in errors)
