"""The request of a client: the forms of an address, and parameters as PHP reads them."""

import re
from dataclasses import dataclass
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote

import msgspec

# PHP drops variables beyond this number, in form bodies and in batch commands alike.
MAX_INPUT_VARS = 1000
_KEY_PARTS = re.compile(r"\[([^\]]*)\]")
_SUFFIX = re.compile(r"\.(json|xml)$")

Params = dict[str, Any]


class Sent(NamedTuple):
    """A request as it came, for those who read it more strictly than PHP does."""

    body: bytes
    content_type: str
    query: str = ""


@dataclass(frozen=True, slots=True)
class Address:
    """A REST address taken apart; `user` and `secret` are empty where the address has none."""

    method: str
    user: str = ""
    secret: str = ""
    version: int = 2
    form: str = "json"


def parse_address(path: str) -> Address | None:
    """The call behind a path, or None where the path is not below /rest/ (or a gateway's /webhook/)."""
    segments = [unquote(part) for part in path.split("/") if part]
    if not segments or segments[0] not in {"rest", "webhook"}:
        return None
    rest = segments[1:]
    version = 2
    if rest and rest[0] == "api":
        version, rest = 3, rest[1:]
    if not rest:
        return Address("", version=version)
    suffix = _SUFFIX.search(rest[-1])
    method = _SUFFIX.sub("", rest[-1])
    form = suffix.group(1) if suffix else "json"
    if len(rest) >= 3:
        return Address("/".join([*rest[2:-1], method]), rest[0], rest[1], version, form)
    # Without a user id the first segment is taken for the method: hence "Method not found!" before any auth.
    return Address(method if len(rest) == 1 else rest[0], version=version, form=form)


def parse_params(sent: Sent) -> Params:
    """Query and body together. A JSON body is read only if there are no form fields; a broken one is empty."""
    body, content_type, _ = sent
    params = parse_query(sent.query) if sent.query else {}
    if not body:
        return params
    kind = content_type.split(";", maxsplit=1)[0].strip().lower()
    if kind == "application/x-www-form-urlencoded":
        return params | parse_query(body.decode("utf-8", "replace"))
    if kind == "multipart/form-data":
        return params | _multipart(body, content_type)
    return params | _json_object(body)


def parse_query(text: str, limit: int = MAX_INPUT_VARS) -> Params:
    """A query string with PHP bracket names, as nested dicts and lists of strings."""
    return nested(parse_qsl(text, keep_blank_values=True)[:limit])


def nested(pairs: list[tuple[str, str]]) -> Params:
    tree: Params = {}
    for name, value in pairs:
        bracket = name.find("[")
        if bracket <= 0:
            tree[name] = value
            continue
        _place(tree, [name[:bracket], *_KEY_PARTS.findall(name[bracket:])], value)
    return {key: _listed(value) for key, value in tree.items()}


def _place(tree: Params, path: list[str], value: str) -> None:
    node = tree
    for step in path[:-1]:
        key = step or _next_index(node)
        child = node.get(key)
        if not isinstance(child, dict):
            child = node[key] = {}
        node = child
    node[path[-1] or _next_index(node)] = value


def _next_index(node: Params) -> str:
    numbers = [int(key) for key in node if key.isdigit()]
    return str(max(numbers) + 1 if numbers else 0)


def _listed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    items = {key: _listed(item) for key, item in value.items()}
    if all(key == str(place) for place, key in enumerate(items)):
        return list(items.values())
    return items


def _json_object(body: bytes) -> Params:
    try:
        decoded = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}
    if isinstance(decoded, list):
        return {str(place): item for place, item in enumerate(decoded)}
    return decoded if isinstance(decoded, dict) else {}


def _multipart(body: bytes, content_type: str) -> Params:
    message = BytesParser(policy=HTTP).parsebytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body)
    pairs = []
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        if isinstance(name, str):
            payload = part.get_payload(decode=True)
            pairs.append((name, payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""))
    return nested(pairs[:MAX_INPUT_VARS])
