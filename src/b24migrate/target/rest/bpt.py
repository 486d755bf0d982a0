"""A workflow template as the file that boxes take: `.bpt`, what PHP's `serialize` writes of it, compressed.

No method gives such a file away. But it holds nothing that `bizproc.workflow.template.list` does not tell, except the
fields of the document; those are left out, so that the box does not make or change any: they have arrived before."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Mapping

from b24migrate.records import Args, Json

VERSION = 2
PARTS = ("TEMPLATE", "PARAMETERS", "VARIABLES", "CONSTANTS")
NUMBER = re.compile(r"0|-?[1-9]\d{0,17}")  # a key that PHP takes for a number


def packed(fields: Args) -> str:
    """As methods take files: base64."""
    whole = {"VERSION": VERSION, **{name: fields.get(name) or [] for name in PARTS}, "DOCUMENT_FIELDS": []}
    return base64.b64encode(zlib.compress(serialized(whole))).decode()


def serialized(value: Json) -> bytes:
    """As PHP would: a list is a map from numbers, and a text is as long as its bytes."""
    if value is None:
        return b"N;"
    if isinstance(value, bool):
        return b"b:%d;" % value
    if isinstance(value, int):
        return b"i:%d;" % value
    if isinstance(value, float):
        return f"d:{value!r};".encode()
    if isinstance(value, Mapping):
        return _array([(_key(str(name)), inner) for name, inner in value.items()])
    if isinstance(value, (list, tuple)):
        return _array(list(enumerate(value)))
    text = str(value).encode("utf-8", "replace")
    return b's:%d:"%s";' % (len(text), text)


def _array(pairs: list[tuple[int | str, Json]]) -> bytes:
    return b"a:%d:{%s}" % (len(pairs), b"".join(serialized(key) + serialized(value) for key, value in pairs))


def _key(name: str) -> int | str:
    return int(name) if NUMBER.fullmatch(name) else name
