"""One portal over HTTP: a call returns a decoded answer or raises one of our errors."""

from __future__ import annotations

import hashlib
import ssl
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from threading import BoundedSemaphore, local
from typing import NamedTuple

import msgspec
import urllib3
from urllib3.exceptions import HTTPError, MaxRetryError, NewConnectionError
from urllib3.exceptions import TimeoutError as NoAnswer

from b24migrate import __version__
from b24migrate.bitrix.breaker import Attempt, Breaker
from b24migrate.bitrix.envelope import Envelope, Shape, times
from b24migrate.bitrix.faults import Caller, code_error, open_answer
from b24migrate.bitrix.hosts import split_address
from b24migrate.bitrix.http import Bounds, TooLarge, Wire
from b24migrate.bitrix.limits import Governor
from b24migrate.bitrix.permissions import PAGE_403, Memory, Permissions
from b24migrate.bitrix.secrets import Redactor
from b24migrate.bitrix.webhook import Webhook
from b24migrate.messages import say
from b24migrate.model.errors import GateUnmet, Limited, MigrationError, Transient
from b24migrate.model.events import Noted, Observer, PortalMoved, tell
from b24migrate.model.interrupt import Interrupt
from b24migrate.model.records import Args
from b24migrate.ports import Bill, Clock

USER_AGENT = f"b24migrate/{__version__}"
_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json",
    "Accept-Encoding": "gzip",
    "User-Agent": USER_AGENT,
}
_REDIRECTS = frozenset({301, 302, 307, 308})
_MOST_MOVES = 3
_LONGEST_HOST = 253


class Timeouts(NamedTuple):
    """`read_s` is the longest silence: the cloud cuts a request off after as long. From the first byte on each
    `window_s` has to bring `least_bytes`: a slower connection counts as broken. `call_s` is the time for a whole call;
    a request of a megabyte gets 100 s more, for a line of 10 KB/s."""

    connect_s: float = 10.0
    read_s: float = 60.0
    probe_s: float = 10.0
    call_s: float = 300.0
    window_s: float = 60.0
    least_bytes: int = 60_000
    sent_bytes_s: int = 10_000


class Reply(NamedTuple):
    status: int
    body: bytes
    location: str = ""


class Portal:
    """Several webhooks of one portal: they share its address, its limits and its health."""

    def __init__(
        self,
        webhooks: Sequence[Webhook],
        *,
        governor: Governor,
        breaker: Breaker,
        clock: Clock,
        redactor: Redactor,
        name: str = "source",
        probe_method: str = "server.time",
        timeouts: Timeouts = Timeouts(),  # noqa: B008
        tls: ssl.SSLContext | None = None,
        connections: int = 16,
        at_once: int = 0,
        granted: Memory | None = None,
        interrupt: Interrupt | None = None,
        observers: tuple[Observer, ...] = (),
        redirect_hosts: Collection[str] = (),
        file_hosts: Collection[str] = (),
    ) -> None:
        """`at_once`: how many calls may run at a time; 0 = no limit. `granted`: where calls that were answered
        are kept, of a portal that is only read. `redirect_hosts`: where the portal may have moved, besides its own
        domain. `file_hosts`: where its files may be, besides its own domain and the vendor's delivery hosts."""
        self.name = name
        self.clock = clock
        self.governor = governor
        self.breaker = breaker
        self.redactor = redactor
        self.timeouts = timeouts
        self.wire = Wire(tls=tls, connections=connections)
        self.interrupt = interrupt or Interrupt()
        self.file_hosts = frozenset(file_hosts)
        self.address = ""  # in numbers, as last connected to
        self._redirect_hosts = frozenset(redirect_hosts)
        self._observers = observers
        self.hosts = {webhook.host for webhook in webhooks}  # also those it had before it was renamed
        self._webhooks = list(webhooks)
        self.under_way: AbstractContextManager[object] = BoundedSemaphore(at_once) if at_once else nullcontext()
        self._took = local()
        self._probe_method = probe_method
        self.permissions = Permissions(self._repeat, self.caller, lambda via: self._webhooks[via].tag)
        self.permissions.memory = granted
        if probe_method != "server.time":
            self.permissions.probes = (probe_method,)
        redactor.guard("urllib3.connectionpool")
        breaker.probe = self.alive

    @property
    def webhooks(self) -> Sequence[Webhook]:
        """As they are now: a renamed portal has another host."""
        return self._webhooks

    def call(self, method: str, params: Args, *, via: int = 0) -> Envelope:
        """Raises Transient, Limited, Permanent or Stop. The order of keys is kept: old methods bind by position."""
        answer = self.ask(method, params, Envelope, via=via)
        self.permissions.answered(via, method, [params])
        return answer

    def ask(self, method: str, params: Args, shape: type[Shape], *, via: int = 0, billed: Sequence[str] = ()) -> Shape:
        """`billed` are the methods whose execution time the call uses up besides its own."""
        answer = self._ask(method, params, shape, via, billed)
        if isinstance(answer, MigrationError):
            raise self.permissions.judge_call(answer, method, params, via)
        return answer

    def _repeat(self, method: str, params: Args, via: int) -> MigrationError | None:
        answer = self._ask(method, params, Envelope, via)
        return answer if isinstance(answer, MigrationError) else None

    def _ask(
        self, method: str, params: Args, shape: type[Shape], via: int, billed: Sequence[str] = ()
    ) -> Shape | MigrationError:
        body = msgspec.json.encode(params)
        subject = f"{via}:{method}:{hashlib.blake2b(body, digest_size=12).hexdigest()}"
        self.breaker.admit()
        self.governor.acquire(self._webhooks[via].tag, (method, *billed))
        attempt = Attempt(subject, self.clock.monotonic())
        answer = self._open(method, body, via, shape)
        if isinstance(answer, MigrationError):
            return self._settle(answer, attempt, method, via)
        self.breaker.succeeded(attempt)
        self.governor.answered(attempt.started)
        spent = times(answer.time)
        self.governor.synchronized(spent, self.clock.monotonic() - attempt.started)
        self.governor.learned(self._webhooks[via].tag, method, spent)
        self._took.seconds = self.clock.monotonic() - attempt.started
        if self.governor.meter and not billed:
            sum_s = spent.operating
            self.governor.meter(Bill(via, method, 1, sum_s, sum_s, spent.duration, self.took_s))
        return answer

    @property
    def took_s(self) -> float:
        """The duration of the last request of this thread, without the wait for a limit."""
        return float(getattr(self._took, "seconds", 0.0))

    def alive(self) -> bool:
        """Any well-formed answer that is not a server error means that the portal works."""
        self.governor.count()
        reply = self._post(self._probe_method, b"{}", 0, self.timeouts.probe_s, 2 * self.timeouts.probe_s)
        if isinstance(reply, MigrationError):
            return False
        answer = open_answer(reply.status, reply.body, self._probe_method, self.caller(0), Envelope)
        return not isinstance(answer, Transient) or answer.code == PAGE_403  # a block shows at the next call

    def caller(self, via: int) -> Caller:
        gate = "auth.cloud" if self.name == "source" else f"auth.{self.name}.import"
        return Caller(self._webhooks[via].named(self.name), gate, self.redactor.redact)

    def limited(self, error: Limited, sent_at: float, method: str, via: int) -> Limited:
        """Reports the refusal to the governor and adds the wait to the error."""
        if error.code == "OPERATION_TIME_LIMIT":
            error.wait_s = self.governor.spent(self._webhooks[via].tag, method, error.wait_s)
        else:
            error.wait_s = self.governor.rejected(sent_at, error.wait_s)
        error.method = method
        return error

    def failure(self, error: Transient, attempt: Attempt) -> Transient:
        """A failed call: the breaker counts it and decides whether it is an outage."""
        self.breaker.failed(attempt, error.message)
        error.own = self.breaker.own_fault(attempt)
        return error

    def transport_error(self, error: HTTPError, method: str) -> Transient:
        """Our own message: the library's contains the whole address."""
        if isinstance(error, MaxRetryError) and isinstance(error.reason, HTTPError):
            error = error.reason
        code = "CONNECTION_LOST"
        if isinstance(error, TooLarge):
            return self._too_large(method)
        if isinstance(error, NewConnectionError):
            code = "UNREACHABLE"
        elif isinstance(error, NoAnswer):
            code = "TIMEOUT"
        made = code_error(
            code, method, text=say("portal.no_answer", portal=self.name, kind=type(error).__name__), status=502
        )
        assert isinstance(made, Transient)  # noqa: S101 - the three codes are
        return made

    def note(self, level: str, message: str) -> None:
        """For the log."""
        tell(self._observers, Noted(level, self.redactor.redact(message)))

    def bounds(self, total_s: float) -> Bounds:
        """Of one exchange with this portal."""
        return Bounds(self.interrupt, total_s, self.timeouts.window_s, self.timeouts.least_bytes)

    def _too_large(self, method: str) -> Transient:
        """The portal did answer. The job is tried again, and reads page by page then: three times in all."""
        made = code_error("ANSWER_TOO_LARGE", method, status=200)
        assert isinstance(made, Transient)  # noqa: S101
        made.own = True
        return made

    def _settle(self, error: MigrationError, attempt: Attempt, method: str, via: int) -> MigrationError:
        error.message = self.redactor.redact(error.message)
        if isinstance(error, Transient) and error.code != PAGE_403 and not error.own:
            return self.failure(error, attempt)
        self.breaker.succeeded(attempt)  # the portal understood and answered
        if isinstance(error, Limited):
            return self.limited(error, attempt.started, method, via)
        return error

    def _open(self, method: str, body: bytes, via: int, shape: type[Shape]) -> Shape | MigrationError:
        total_s = self.timeouts.call_s + len(body) / self.timeouts.sent_bytes_s
        reply = self._post(method, body, via, self.timeouts.read_s, total_s)
        if isinstance(reply, MigrationError):
            return reply
        return open_answer(reply.status, self.redactor.mask(reply.body), method, self.caller(via), shape)

    def _post(self, method: str, body: bytes, via: int, read_s: float, total_s: float) -> Reply | MigrationError:
        """A renamed portal answers with a redirect. A client that followed it would turn POST into GET (§A1)."""
        for _ in range(_MOST_MOVES):
            webhook = self._webhooks[via]
            reply = self._post_once(webhook.url(method), body, method, read_s, total_s)
            if not isinstance(reply, Reply) or reply.status not in _REDIRECTS:
                return reply
            moved = webhook.moved(reply.location, self._redirect_hosts)
            if moved is None:
                return self._redirect_error(reply, method, via)
            if moved.origin != webhook.origin:
                self._move(moved, method)
            self.governor.count()
        return code_error("HTTP_302", method, text=say("portal.redirects"), status=302)

    def _move(self, there: Webhook, method: str) -> None:
        before = self._webhooks[0].host
        self._webhooks = [one.moved(there.url(method), self._redirect_hosts) or one for one in self._webhooks]
        self.hosts = self.hosts | {there.host}
        tell(self._observers, PortalMoved(self.name, before, there.host))

    def _post_once(self, url: str, body: bytes, method: str, read_s: float, total_s: float) -> Reply | Transient:
        failed: HTTPError
        bounds = self.bounds(total_s)
        timeout = urllib3.Timeout(connect=self.timeouts.connect_s, read=read_s)
        try:
            with self.under_way:
                bounds.begin()
                status, found, headers = self.wire.exchange(
                    "POST", url, bounds, body=body, headers=_HEADERS, timeout=timeout
                )
            self.address = bounds.address or self.address
            return Reply(status, found, headers.get("Location", ""))
        except HTTPError as error:
            failed = error
        # Outside the block, so that no context with an address in it hangs on the error.
        return self.transport_error(failed, method)

    def _redirect_error(self, reply: Reply, method: str, via: int) -> MigrationError:
        """A redirect that the secret does not follow."""
        webhook, parts = self._webhooks[via], split_address(reply.location)
        if parts is None or not parts.path.startswith(f"{webhook.prefix}/"):
            return code_error(f"HTTP_{reply.status}", method, text=say("portal.web_page"), status=reply.status)
        host = (parts.hostname or "")[:_LONGEST_HOST]
        if parts.scheme != "https" and webhook.moved(parts._replace(scheme="https").geturl(), self._redirect_hosts):
            return GateUnmet(
                self.caller(via).gate,
                say("portal.insecure", portal=self.name),
                code=f"HTTP_{reply.status}",
                hint=say("portal.insecure_fix"),
            )
        return GateUnmet(
            self.caller(via).gate,
            say("portal.moved", portal=self.name, host=host),
            code="PORTAL_MOVED",
            hint=say("portal.moved_fix", host=host, portal=self.name),
        )
