"""The envelope around every answer: result, next, total, time."""

from dataclasses import dataclass
from typing import Any

from b24sim.moments import Moments
from b24sim.phpjson import put
from b24sim.result import Result


@dataclass(frozen=True, slots=True)
class Timing:
    """When a call ran, and what its method has used up; a portal without a limiter says nothing of the latter."""

    start: float
    finish: float
    operating: float | None = None
    reset_at: int | None = None

    def encoded(self, moments: Moments) -> bytes:
        duration = self.finish - self.start
        # Recent servers write whole numbers as well as fractions: clients must take both.
        whole = int(self.start) % 2 == 0
        start, finish, spent = (
            (str(int(self.start)), f"{self.finish:.6f}", "0")
            if whole
            else (f"{self.start:.6f}", f"{self.finish:.6f}", f"{duration:.6f}")
        )
        text = (
            f'{{"start":{start},"finish":{finish},"duration":{duration:.6f},"processing":{spent},'
            f'"date_start":"{moments.iso(self.start)}","date_finish":"{moments.iso(self.finish)}"'
        )
        if self.operating is not None:
            text += f',"operating_reset_at":{self.reset_at},"operating":{_number(self.operating)}'
        return (text + "}").encode()


def envelope(result: Result, timing: bytes) -> bytes:
    parts = [b'{"result":']
    put(parts, result.value)
    if result.next is not None:
        parts.append(b',"next":%d' % result.next)
    if result.total is not None:
        parts.append(b',"total":%d' % result.total)
    parts += [b',"time":', timing, b"}"]
    return b"".join(parts)


def xml(value: Any, tag: str = "response") -> str:
    """The same answer for addresses that end in .xml."""
    from xml.sax.saxutils import escape

    if isinstance(value, dict):
        return f"<{tag}>" + "".join(xml(item, str(key)) for key, item in value.items()) + f"</{tag}>"
    if isinstance(value, list):
        return f"<{tag}>" + "".join(xml(item, "item") for item in value) + f"</{tag}>"
    return f"<{tag}>{escape('' if value is None else str(value))}</{tag}>"


def _number(value: float) -> str:
    return "0" if value == 0 else repr(round(value, 6))
