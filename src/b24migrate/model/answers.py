"""Opening an answer by key: the one place where it is decided what an answer without the expected key means.

A list that is not where the documentation has it is an error and never an empty list: taken for empty, everything in it
would be lost without a word. Keys come in lower case in the documentation and in capitals from some kernels
(`comments` of log.blogcomment.user.get); both are taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from b24migrate.messages import say
from b24migrate.model.errors import Permanent
from b24migrate.model.values import is_number

STRANGE = "STRANGE_RESULT"
UNCLEAR = frozenset({STRANGE, "KEYSET_IGNORED"})  # codes of answers that make no sense; a refusal has others
_EMOJI = re.compile(r":(f[0-4][89ab][0-9a-f](?:[89ab][0-9a-f]){2}):")
_LEVEL = msgspec.json.Decoder(dict[str, msgspec.Raw] | list[msgspec.Raw] | str | int | float | bool | None)


class AnswerList(NamedTuple):
    """The members of a list, raw or decoded; the value next to it; and the keys as this portal spells them."""

    items: list[Any]
    beside: Any = None
    path: tuple[str, ...] = ()


def open_list(result: object, path: Sequence[str] = (), what: str = "", beside: str = "") -> AnswerList:
    """The list at the path. PHP: a list with gaps is a map, and no members may be `false` or `null`."""
    side = None
    taken: tuple[str, ...] = ()
    for name in path:
        level = _level(result)
        key = find_key(level, name) if isinstance(level, Mapping) else None
        if key is None:
            raise unexpected_answer(what, path)
        side = level.get(find_key(level, beside)) if beside else None
        taken = (*taken, key)
        result = level[key]
    found = _level(result)
    if isinstance(found, Mapping):
        return AnswerList(list(found.values()), side, taken)
    if isinstance(found, list):
        return AnswerList(found, side, taken)
    if found is None or found is False:
        return AnswerList([], side, taken)
    raise unexpected_answer(what, path)


def open_entry(result: object, name: str, what: str = "") -> Any:
    """The decoded value under one key of an answer."""
    level = _level(result)
    key = find_key(level, name) if isinstance(level, Mapping) else None
    if key is None:
        raise unexpected_answer(what, (name,))
    value = level[key]
    try:
        return msgspec.json.decode(value) if isinstance(value, msgspec.Raw) else value
    except (msgspec.DecodeError, RecursionError):
        raise unexpected_answer(what, (name,)) from None


def row_in(raw: msgspec.Raw | bytes | None, method: str) -> dict[str, Any]:
    """An object. Raises the error of an answer that makes no sense."""
    try:
        found = msgspec.json.decode(raw or b"null")
    except (msgspec.DecodeError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise unexpected_answer(method, ())
    return found


def id_of(raw: msgspec.Raw, field: str, method: str) -> str:
    """A number, as text. Raises the error of an answer that makes no sense."""
    value = row_in(raw, method).get(field)
    text = str(value) if isinstance(value, str | int) else ""
    if not is_number(text):
        raise unexpected_answer(method, (field,))
    return text


def id_in(raw: msgspec.Raw, field: str, method: str) -> Any:
    """The same, as the portal writes it."""
    id_of(raw, field, method)
    return row_in(raw, method)[field]


def decode_emoji(text: Any) -> Any:
    """The forum and the timeline keep emoji as `:f09f9880:`, the digits of their bytes, and some methods return them so
    (kernel forum/lib/message.php, tasks/classes/general/commentitem.php, crm/lib/timeline/commententry.php)."""
    return _EMOJI.sub(_emoji, text) if isinstance(text, str) else text


def _emoji(found: re.Match[str]) -> str:
    try:
        return bytes.fromhex(found[1]).decode()
    except UnicodeDecodeError:
        return found[0]


def find_key(level: Mapping[str, Any], name: str) -> str | None:
    """The key as this portal writes it."""
    return next((key for key in (name, name.upper(), name.lower()) if key in level), None)


def unexpected_answer(what: str, path: Sequence[str]) -> Permanent:
    method = what or say("portal.unnamed")
    text = say("portal.no_key", method=method, path=".".join(path)) if path else say("portal.no_list", method=method)
    return Permanent(text, code=STRANGE)


def _level(part: object) -> Any:
    """One level of it; what is decoded already stays as it is."""
    if not isinstance(part, (bytes, msgspec.Raw)):
        return part
    try:
        return _LEVEL.decode(part)
    except (msgspec.DecodeError, RecursionError):
        return part
