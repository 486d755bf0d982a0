"""Whether a refusal concerns one record, one method or everything. One judge for each portal.

A portal says ACCESS_DENIED both for one record that its user may not see and for every request of a portal whose plan
has lapsed (_includes/system-errors.md of the vendor's documentation: "REST API is available only on commercial plans").
So a refusal is checked with calls that the same webhook was granted before: they are repeated. When they are refused
too, the webhook has lost its permissions and the run stops; when one is answered, the refusal is the record's own. The
refused call itself proves nothing, even if it was granted before: its record may have been closed.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple, Protocol

import msgspec

from b24migrate.bitrix.faults import Caller, scope_of
from b24migrate.messages import say
from b24migrate.model.errors import Forbidden, GateUnmet, Limited, MigrationError, Refused, Transient
from b24migrate.model.records import Args, Json
from b24migrate.ports import ANALYSIS, RegisterRow, Store

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
ANYBODY = ("profile", "server.time")  # every webhook may call them, with any scopes
_KEPT = 12  # calls of each method that were answered, of several requests
_OTHERS = 2  # so many must be refused before the method counts as refused: one record may have been closed since
_FEW = 3  # different calls of a method that was never granted: what is refused may be the method
_ENOUGH = 10  # it is
AGAIN = say("gate.saved")

Ask = Callable[[str, Args, int], MigrationError | None]


class Memory(Protocol):
    """Calls that a webhook was granted, also in earlier runs."""

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
    WEAK = "weak"  # of one other call only, which is refused too
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
        self._requests: dict[tuple[str, str], int] = {}  # that were granted
        self._scopes: dict[str, frozenset[str]] = {}
        self._never: dict[tuple[str, str], set[bytes]] = {}  # different calls of a method that was never granted

    # ------------------------------------------------------------ what was answered

    def answered(self, via: int, method: str, calls: Sequence[Args]) -> None:
        """Keeps some calls of the first request, the second, the fourth, the eighth and so on: they come from all over
        a run, and are seldom written."""
        if self.memory is None or not calls:
            return
        key = self._tag(via), method
        with self._lock:
            self._never.pop(key, None)
            self._requests[key] = number = self._requests.get(key, 0) + 1
            if number & (number - 1):
                return
            kept = self._granted_calls(key)
            known = set(map(_encode_params, kept))
            some = (calls[0], calls[len(calls) // 2], calls[-1])
            new = {_encode_params(params): params for params in some if _encode_params(params) not in known}
            kept.extend(new.values())
            listed = list(kept)
        if new:
            self.memory.remember(*key, listed)

    def _granted_calls(self, key: tuple[str, str]) -> deque[Args]:
        """Also of earlier runs."""
        assert self.memory is not None  # noqa: S101
        if key not in self._granted:
            self._granted[key] = deque(self.memory.recall(*key), maxlen=_KEPT)
        return self._granted[key]

    def has_scopes(self, via: int, result: bytes) -> None:
        """As the portal reports them: a scope that is missing later was removed in between."""
        scopes = msgspec.json.decode(result)
        if isinstance(scopes, list):
            self._scopes[self._tag(via)] = frozenset(map(str, scopes))

    # ------------------------------------------------------------ what was refused

    def judge_call(self, error: MigrationError, method: str, params: Args, via: int) -> MigrationError:
        """The meaning of a refusal of a whole request."""
        if error.code == PAGE_403:
            return self._page(error, via)
        if error.code not in CODES or isinstance(error, GateUnmet):
            return error
        if method == "batch":  # it needs no permission of its own
            return self._everything(error, via)
        try:
            return self._judge(error, method, [params], via) or error
        except GateUnmet as stop:
            return stop

    def judge_batch(self, done: Sequence[Done], via: int) -> Mapping[int, MigrationError]:
        """The error in place of single ones. Raises GateUnmet if the webhook has lost its permissions. If a call is
        answered after a refused one, only records are refused."""
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
            judged = self._judge(error, method, [done[place].params for place in refused], via)
            if judged is not None:
                instead |= dict.fromkeys(refused, judged)
        return instead

    def _judge(self, error: MigrationError, method: str, refused: Sequence[Args], via: int) -> Refused | None:
        """None where only records are refused. Raises GateUnmet."""
        proof = self._prove(error, method, refused, via)
        if proof is _Proof.GRANTED:
            return None
        if proof is _Proof.LOST or self._is_scope_granted(error, method, via):
            raise self._scope_lost_error(error, method, via)
        if self._refuses_everything(via):
            raise self._everything(error, via)
        if isinstance(error, GateUnmet) or self.memory is None:
            return None
        before, now = self._count(method, via, refused)
        if now < _FEW:
            return None
        return self._refusal(error, method, via, sure=now >= _ENOUGH or before >= _FEW or proof is _Proof.WEAK)

    # ------------------------------------------------------------ proofs

    def _prove(self, error: MigrationError, method: str, refused: Sequence[Args], via: int) -> _Proof:
        """Repeats other calls that were answered before. Raises Limited or Transient if no call is possible."""
        if self.memory is None:
            return _Proof.UNKNOWN
        of_record = "scope" not in error.code.lower()  # a scope is never missing for one record only
        key, closed = (self._tag(via), method), set(map(_encode_params, refused)) if of_record else ()
        with self._lock:
            kept = self._granted_calls(key)
            others = [params for params in kept if _encode_params(params) not in closed]
            if len(others) < len(kept):
                self._granted[key] = deque(others, maxlen=_KEPT)
        for params in reversed(others):
            if not self._refuse(method, params, via):
                return _Proof.GRANTED
        if len(others) >= (_OTHERS if of_record else 1):
            return _Proof.LOST
        return _Proof.WEAK if others else _Proof.UNKNOWN

    def _refuses_everything(self, via: int) -> bool:
        return all(self._refuse(method, {}, via) for method in self.probes)

    def _refuse(self, method: str, params: Args, via: int) -> bool:
        error = self._ask(method, params, via)
        if error is not None and error.code == PAGE_403:
            raise self._page(error, via)
        if isinstance(error, Limited | Transient):
            raise error
        return error is not None and (error.code in CODES or isinstance(error, GateUnmet))

    def _count(self, method: str, via: int, calls: Iterable[Args]) -> tuple[int, int]:
        """How many different calls were refused before, and are by now."""
        with self._lock:
            known = self._never.setdefault((self._tag(via), method), set())
            before = len(known)
            for params in calls:
                if len(known) < _ENOUGH:
                    known.add(_encode_params(params))
            return before, len(known)

    def _is_scope_granted(self, error: MigrationError, method: str, via: int) -> bool:
        return "scope" in error.code.lower() and scope_of(method) in self._scopes.get(self._tag(via), ())

    def _page(self, error: MigrationError, via: int) -> MigrationError:
        """A firewall may block one request, or this machine."""
        answers = (self._ask(probe, {}, via) for probe in self.probes)
        if any(answer is None or answer.code != PAGE_403 for answer in answers):
            return _own_error(error)
        return self._blocked_error(via)

    # ------------------------------------------------------------ sentences

    def _blocked_error(self, via: int) -> GateUnmet:
        who, gate, _ = self._caller(via)
        text = say("gate.address_blocked", who=who)
        hint = say("gate.address_blocked_fix", again=AGAIN)
        return GateUnmet(gate, text, code=BLOCKED, hint=hint)

    def _everything(self, error: MigrationError, via: int) -> GateUnmet:
        who, gate, _ = self._caller(via)
        text = say("gate.access_lost", who=who, code=error.code)
        hint = say("gate.access_lost_fix", again=AGAIN)
        return GateUnmet(gate, text, code=LOST, hint=hint)

    def _scope_lost_error(self, error: MigrationError, method: str, via: int) -> GateUnmet:
        everything = method in self.probes or self._refuses_everything(via)
        return self._everything(error, via) if everything else self._method_lost(error, method, via)

    def _method_lost(self, error: MigrationError, method: str, via: int) -> GateUnmet:
        who, gate, _ = self._caller(via)
        text = say("gate.method_lost", method=method, who=who, code=error.code)
        return GateUnmet(
            gate, text, code=LOST, hint=say("gate.method_lost_fix", scope=_scope_hint(method), again=AGAIN)
        )

    def _refusal(self, error: MigrationError, method: str, via: int, *, sure: bool) -> Refused:
        who, gate, _ = self._caller(via)
        text = say("gate.method_refused", method=method, who=who, code=error.code)
        hint = say("gate.method_refused_fix", scope=_scope_hint(method), again=AGAIN)
        stop = GateUnmet(gate, text, code=FORBIDDEN, hint=hint)
        return (Forbidden if sure else Refused)(error.message, code=error.code, hint=error.hint, gate=stop)


def _own_error(error: MigrationError) -> MigrationError:
    """Other calls are answered, so only this request is refused."""
    if isinstance(error, Transient):
        error.own = True
    return error


def _scope_hint(method: str) -> str:
    scope = scope_of(method)
    return say("gate.add_scope", scope=scope) if scope else say("gate.check_scopes")


def _encode_params(params: Args) -> bytes:
    """The same before and after it was stored."""
    return msgspec.json.encode(params)


def is_repeatable(method: str, text: str) -> bool:
    """A command that refers to the result of another cannot be repeated alone."""
    return "%24" not in text and method != "batch"


def refusals(errors: Iterable[MigrationError | None]) -> bool:
    return any(error is not None and (error.code in CODES or isinstance(error, GateUnmet)) for error in errors)
