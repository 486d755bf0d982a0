"""What our own computing takes on this computer: constants that were measured on one, and how fast this one is."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median, pstdev

from b24migrate.model.records import digest
from b24migrate.model.streams import Kind, Stream
from b24migrate.ports import Clock

# Seconds, on a computer that does the measured piece of work in USUAL_PIECE_S. Measured over whole runs with an
# embedded store: what a record costs beside the calls, including its share of every job.
READ_S, READ_BYTE_S = 25e-6, 25e-9  # a record that is read and staged
FIELD_S, TREE_BYTE_S = 14e-6, 0.5e-6  # composing it: each field; each byte of a tree that is walked
SEND_S = 90e-6  # and sending and settling it
FETCH_S, UPLOAD_S = 2.6e-3, 2.4e-3  # a file
FILE_BYTE_S = 1.0e-8
JOB_S = 2.0e-3  # a job more
STAGE_S = 0.012  # and the beginning of a stage
SLACK = 1.2  # of these are never used to the full: threads wait for one another, and for the disk

LEAST_ERROR, MOST_ERROR = 0.25, 0.8
PIECES = 25  # at a time
USUAL_PIECE_S = 1.28e-3


@dataclass(frozen=True, slots=True)
class Own:
    """`factor`: how much longer everything takes here. `error`: its relative standard error."""

    factor: float = 1.0
    error: float = LEAST_ERROR

    def of(self, seconds: float) -> float:
        return seconds * self.factor * SLACK

    def read_s(self, size: float) -> float:
        return self.of(READ_S + READ_BYTE_S * size)

    def compose_s(self, stream: Stream, filled: float, size: float) -> float:
        walked = any(one.kind is Kind.TREE and one.under for one in stream.fields)
        return self.of(FIELD_S * filled + (TREE_BYTE_S * size if walked else 0.0))

    def send_s(self) -> float:
        return self.of(SEND_S)


class Gauge:
    """Measures now and then, in between other things, and takes the median: what else goes on here all the time will go
    on while we work."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seconds: list[float] = []
        self._record = {f"FIELD_{number}": f"value {number}" * 4 for number in range(60)}
        self.measure()

    def measure(self) -> None:
        began = self._clock.monotonic()
        for _ in range(PIECES):
            self._piece()
        self._seconds.append((self._clock.monotonic() - began) / PIECES)

    def _piece(self) -> None:
        for number in range(60):
            digest({name: value.replace("value", str(number)) for name, value in self._record.items()})

    @property
    def own(self) -> Own:
        usual = median(self._seconds)
        unsteady = (
            pstdev(self._seconds) / usual / 2
        )  # somebody else uses this computer too, sometimes more, sometimes less
        return Own(max(0.2, usual / USUAL_PIECE_S), min(MOST_ERROR, max(LEAST_ERROR, unsteady)))
