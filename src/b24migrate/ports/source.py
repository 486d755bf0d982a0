"""The source portal, which is only read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import BinaryIO, NamedTuple, Protocol

import msgspec

from b24migrate.model.errors import Limited, Transient
from b24migrate.model.readings import Gather, Listing, PerParent, Progress
from b24migrate.model.records import Args, Json, Page
from b24migrate.model.streams import Habits
from b24migrate.ports.files import Part
from b24migrate.ports.registers import Billing


class Command(NamedTuple):
    """One call inside a batch."""

    method: str
    params: Args


class Answer(NamedTuple):
    """The result of one command: its raw JSON, or its error."""

    result: bytes | None
    error: Exception | None = None
    total: int | None = None
    next: int | None = None

    def require(self) -> bytes:
        """The result. Raises the error if the command failed."""
        if self.error is not None:
            raise self.error
        return self.result or b"null"

    def decode(self) -> Json:
        """The result, decoded. Raises like `require`."""
        return msgspec.json.decode(self.require())

    def known(self) -> Json:
        """The result, decoded. None if the command failed or its answer cannot be read."""
        if self.error is not None or self.result is None:
            return None
        try:
            return msgspec.json.decode(self.result)
        except (msgspec.DecodeError, RecursionError):
            return None

    def raise_if_unheard(self) -> None:
        """Raises a limit or an outage, which is not an answer to the command."""
        if isinstance(self.error, Limited) or (isinstance(self.error, Transient) and not self.error.own):
            raise self.error


class Bill(NamedTuple):
    """What a portal said that calls of one method in one request had cost. Where `batch` pays for its commands they say
    no sums, and the last bill of a request is of `batch`, with no calls."""

    via: int
    method: str
    calls: int
    first: float | None  # the method's sum of execution time after the first of them, and after the last
    last: float | None
    duration_s: float  # of one call, on the average
    request_s: float  # of the whole request, by our own clock; 0 if another bill of the same request has it


class Download(NamedTuple):
    """A file that is here."""

    size: int
    sha256: str  # empty when the first bytes came at another time
    name: str = ""  # as the answer calls it; empty where it does not


class Source(Protocol):
    """A portal that is only read. `via` picks one of the configured webhooks."""

    habits: Habits  # results of its probes (docs/probe.md); empty if nothing is known

    def page(self, reading: Listing | Gather, cursor: Args, *, limit: int = 0, gently: bool = False) -> Page:
        """Reads on from the cursor ({} = from the beginning), at most `limit` records in all when it is not 0.
        Raises Transient, Limited or Permanent; Stop when nothing further can be read at all."""
        ...

    def children(
        self, reading: PerParent, progress: Sequence[Progress], *, one_page: bool = False, gently: bool = False
    ) -> Page:
        """Reads on for these parents in one request: as many pages of as many of them as fit. `next` has
        {"id", "after", "got"} for each parent that is not finished, or `last` does, `parents` those that are."""
        ...

    def count(self, reading: Listing) -> int | None:
        """The current total that the portal returns; None if it returns none."""
        ...

    def call(self, method: str, params: Args, *, via: int = 0) -> Answer:
        """One call. Raises like `page`."""
        ...

    def batch(self, commands: Sequence[Command], *, via: int = 0) -> list[Answer]:
        """One answer for each command, in order, in as few requests as the portal allows. A failed command is an
        answer with an error; only a failure of the whole request raises."""
        ...

    def download(self, url: str, out: BinaryIO, *, limit: int) -> tuple[int, str]:
        """Streams a file; returns its length and SHA-256. Raises Permanent for a web page in place of a file or one
        over `limit`, Transient for what may succeed later."""
        ...

    def resume(
        self, url: str, part: Part, *, limit: int, enough: Callable[[], bool] = lambda: False
    ) -> Download | None:
        """Like `download`, but continues after what is here if the server gives the rest of the very same
        file; then not all of its bytes were seen, and the SHA-256 is empty. None when it was `enough` before the
        end, which is asked only of what can be continued."""
        ...

    @property
    def owners(self) -> Sequence[str]:
        """The user id behind each webhook."""
        ...

    @property
    def billing(self) -> Billing | None:
        """The method that the portal charges the commands of a batch to; None until an answer shows it."""
        ...

    def alive(self) -> bool:
        """A cheap question: does the portal answer at all?"""
        ...
