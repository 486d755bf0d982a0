"""Mistakes in one file, or between a file and the modules it uses. Each complaint names file and line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.deploy.bicep import facts
from tests.deploy.bicep.tree import Broken, File, Statement, children, entries, field, line, plain, read, text
from tree_sitter import Node

GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
SECRETS = (
    re.compile(r"AccountKey=|SharedAccessKey=|SharedAccessSignature=|[?&]sig=|InstrumentationKey=", re.IGNORECASE),
    re.compile(r"https?://[^/\s]+/rest/\d+/\w{6,}"),  # a webhook
    re.compile(r"[A-Za-z0-9+/]{43,}={0,2}"),  # 32 bytes or more in base64
)
SPEAKING = re.compile(r"password|secret$|token$|apikey|accountkey|connectionstring", re.IGNORECASE)
TELLING = re.compile(r"^list(keys|secrets|accountsas|servicesas)?$", re.IGNORECASE)
NAMES = ("identifier", "loop_variable", "loop_enumerator")
Found = Iterator[tuple[int, str]]


def complaints(folder: Path) -> list[str]:
    """About every file below the folder."""
    return [one for path in sorted(folder.rglob("*.bicep")) for one in about(path)]


def about(path: Path) -> Iterator[str]:
    try:
        file = read(path)
    except Broken as error:
        yield f"{path.name}: {error}"
        return
    for rule in (_names, _declarations, _types, _secrets, _roles):
        yield from (f"{path.name}:{at}: {words}" for at, words in rule(file))
    yield from (f"{path.name}:{at}: {words}" for at, words in _modules(file, path.parent))


def _names(file: File) -> Found:
    declared = Counter(one.name for one in file.statements if one.kind != "output")
    used: set[str] = set()
    for one in file.statements:
        for decorator in one.decorators:
            if text(field(decorator, "function")) not in facts.DECORATORS:
                yield line(decorator), f"there is no decorator @{text(field(decorator, 'function'))}"
        for node in one.nodes():
            if node.type == "object":
                keys = Counter(text(key) for key, _ in entries(node))
                yield from ((line(node), f"{key} is set twice") for key, count in keys.items() if count > 1)
            if node.type != "identifier" or _is_key(node):
                continue
            used.add(text(node))
            if _is_function(node):
                if text(node) not in facts.FUNCTIONS:
                    yield line(node), f"there is no function {text(node)}"
            elif text(node) not in declared and text(node) not in _local(node):
                yield line(node), f"{text(node)} is not declared"
    for one in file.statements:
        if one.kind != "output" and declared[one.name] > 1:
            yield one.line, f"{one.name} is declared twice"
        if one.kind in ("param", "var") and one.name not in used:
            yield one.line, f"{one.kind} {one.name} is never used"


def _is_key(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "object_property" and children(node.parent)[0] == node


def _is_function(node: Node) -> bool:
    return node.parent is not None and node.parent.child_by_field_name("function") == node


def _local(node: Node) -> set[str]:
    """Names of the loops and functions that it is in, or that it names itself."""
    found: set[str] = set()
    above = node.parent
    while above is not None:
        if above.type in ("for_statement", "lambda_expression"):
            first = children(above)[0]
            found |= {text(one) for one in (first, *children(first)) if one.type in NAMES}
        above = above.parent
    return found


def _declarations(file: File) -> Found:
    for one in file.all("param", "output"):
        if "description" not in _decorators(one):
            yield one.line, f"{one.kind} {one.name} has no @description"
        if one.type not in ("string", "int", "bool", "array", "object"):
            yield one.line, f"{one.type} is not a type"


def _decorators(one: Statement) -> set[str]:
    return {text(field(decorator, "function")) for decorator in one.decorators}


def _types(file: File) -> Found:
    for one in file.all("resource"):
        type_, _, version = one.type.partition("@")
        if facts.RESOURCES.get(type_) != version:
            yield one.line, f"{one.type} is not on the list of known resource types"
        if "name" not in one.body:
            yield one.line, f"resource {one.name} has no name"


def _secrets(file: File) -> Found:
    for one in file.statements:
        if any(
            pattern.search(text(node)) for node in one.nodes() for pattern in SECRETS if node.type == "string_content"
        ):
            yield one.line, f"{one.kind} {one.name} contains a secret"
        if one.kind == "param" and SPEAKING.search(one.name) and one.type in ("string", "object"):
            if "secure" not in _decorators(one):
                yield one.line, f"param {one.name} holds a secret and is not @secure"
            elif one.value is not None:
                yield one.line, f"param {one.name} is @secure and has a default"
        members = [text(node) for node in one.nodes() if node.type == "property_identifier"]
        if one.kind == "output" and any(map(SPEAKING.search, members)):
            yield one.line, f"output {one.name} contains a secret: outputs are kept in the history of deployments"
        called = [text(node) for node in one.nodes() if _is_function(node)]
        yield from (
            (one.line, f"{name} fetches a key; identities need none")
            for name in (*members, *called)
            if TELLING.match(name)
        )


def _roles(file: File) -> Found:
    """A role is a text under its own name."""
    for one in file.statements:
        for node in one.nodes():
            for guid in GUID.finditer(text(node) if node.type == "string_content" else ""):
                name = _label(node) or one.name
                if facts.ROLES.get(name) != guid.group().lower():
                    yield one.line, f"{name} is not the role {guid.group().lower()}"


def _label(node: Node) -> str:
    """The name that stands before a text: of its property, or of the function that it is given to."""
    above = node.parent.parent if node.parent else None
    if above is not None and above.type == "object_property":
        return plain(children(above)[0])
    if above is not None and above.type == "arguments" and above.parent is not None:
        return text(field(above.parent, "function"))
    return ""


def _modules(file: File, folder: Path) -> Found:
    inner: dict[str, File] = {}
    for one in file.all("module"):
        if not (folder / one.type).is_file():
            yield one.line, f"module {one.name}: there is no file {one.type}"
            continue
        try:
            inner[one.name] = read(folder / one.type)
        except Broken:
            continue  # complained about under its own name
        given = one.body.get("params")
        names = {plain(key) for key, _ in entries(given)} if given is not None else set()
        wanted = inner[one.name].named("param")
        yield from ((one.line, f"module {one.name} takes no {name}") for name in sorted(names - set(wanted)))
        missing = (name for name, param in wanted.items() if name not in names and param.value is None)
        yield from ((one.line, f"module {one.name} is not given {name}") for name in missing)
    for node in (node for one in file.statements for node in one.nodes()):
        found = (
            re.fullmatch(r"(\w+)(?:\[.*\])?!?\.outputs\.(\w+)", text(node))
            if node.type == "member_expression"
            else None
        )
        if found and found[1] in inner and found[2] not in inner[found[1]].named("output"):
            yield line(node), f"the module has no output {found[2]}"
