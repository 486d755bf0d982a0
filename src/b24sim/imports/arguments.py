"""Reads the arguments of a call; whatever is malformed is refused as a whole, before anything happens."""

from collections.abc import Mapping

import msgspec

from b24sim.errors import RestError
from b24sim.imports.kinds import is_int
from b24sim.request import Sent

TAKEN_BY_THE_BOX = frozenset({"start", "state", "token", "auth", "method"})
MOST_KEYS = 500


def malformed(message: str) -> RestError:
    return RestError("ERROR_ARGUMENT", message, 400)


def body_of(sent: Sent | None) -> tuple[dict[str, object], int]:
    """Of a request that is one JSON object, or nothing at all; and how many bytes it has. What the box reads as
    parameters does not count: it takes a list for numbered ones, a form for anything, and rubbish for nothing."""
    if sent is None or sent.content_type.split(";", maxsplit=1)[0].strip().lower() != "application/json":
        raise malformed("the body must be application/json: the box changes what comes as a form or in a batch")
    try:
        body = msgspec.json.decode(sent.body) if sent.body.strip() else {}
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise malformed("the body must be one JSON object") from None
    if not isinstance(body, dict):
        raise malformed("the body must be one JSON object")
    return body, len(sent.body)


def refuse_keys_of_the_box(body: Mapping[str, object]) -> None:
    taken = sorted(TAKEN_BY_THE_BOX & body.keys())
    if taken:
        raise malformed(f"the box takes {', '.join(taken)} for itself")


def text(body: Mapping[str, object], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise malformed(f"{name} must be a non-empty string")
    return value


def flag(body: Mapping[str, object], name: str) -> bool:
    """False when absent."""
    value = body.get(name, False)
    if not isinstance(value, bool):
        raise malformed(f"{name} must be true or false")
    return value


def whole_number(body: Mapping[str, object], name: str, default: int | None = None) -> int:
    value = body.get(name, default)
    if not isinstance(value, int) or not is_int(value):
        raise malformed(f"{name} must be a whole number")
    return value


def objects(body: Mapping[str, object], name: str) -> list[dict[str, object]]:
    value = body.get(name)
    if not isinstance(value, list) or not all(isinstance(element, dict) for element in value):
        raise malformed(f"{name} must be a list of objects")
    return value


def texts(body: Mapping[str, object], name: str, most: int | None = None) -> list[str]:
    value = body.get(name)
    if not isinstance(value, list) or not all(isinstance(element, str) for element in value):
        raise malformed(f"{name} must be a list of strings")
    if most is not None and len(value) > most:
        raise malformed(f"{name} may hold at most {most}")
    return value
