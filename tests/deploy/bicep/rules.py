"""What is wrong with one file, or with a file and the modules it uses. Each complaint names file and line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.deploy.bicep import facts, syntax
from tests.deploy.bicep.parser import read
from tests.deploy.bicep.syntax import Expression, File, Statement, parts_of
from tests.deploy.bicep.tokens import Broken

GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
SECRETS = (
    re.compile(r"AccountKey=|SharedAccessKey=|SharedAccessSignature=|[?&]sig=|InstrumentationKey=", re.IGNORECASE),
    re.compile(r"https?://[^/\s]+/rest/\d+/\w{6,}"),  # a webhook
    re.compile(r"[A-Za-z0-9+/]{43,}={0,2}"),  # 32 bytes or more in base64
)
SPEAKING = re.compile(r"password|secret$|token$|apikey|accountkey|connectionstring", re.IGNORECASE)
TELLING = re.compile(r"^list(keys|secrets|accountsas|servicesas)?$", re.IGNORECASE)


def complaints(folder: Path) -> list[str]:
    """About every file below the folder."""
    return [one for path in sorted(folder.rglob("*.bicep")) for one in about(path)]


def about(path: Path) -> Iterator[str]:
    try:
        file = read(path)
    except Broken as error:
        yield f"{path.name}: {error}"
        return
    for rule in (_names, _unused, _described, _types, _secrets, _roles, _keys):
        for line, text in rule(file):
            yield f"{path.name}:{line}: {text}"
    for line, text in _modules(file, path.parent):
        yield f"{path.name}:{line}: {text}"


Found = Iterator[tuple[int, str]]


def _names(file: File) -> Found:
    declared: set[str] = set()
    for one in file.statements:
        if one.name in declared and one.kind != "output":
            yield one.line, f"{one.name} is declared twice"
        if one.kind != "output":
            declared.add(one.name)
    for one in file.statements:
        for decorator in one.decorators:
            if decorator.name not in facts.DECORATORS:
                yield decorator.line, f"there is no decorator @{decorator.name}"
        yield from _unknown(one.value, declared, one.line)


def _unknown(expression: Expression | None, known: set[str], line: int) -> Found:
    match expression:
        case syntax.Name(name, at) if name not in known:
            yield at, f"{name} is declared nowhere"
        case syntax.Loop(names, over, body):
            yield from _unknown(over, known, line)
            yield from _unknown(body, known | set(names), line)
        case syntax.Function(names, body):
            yield from _unknown(body, known | set(names), line)
        case None:
            pass
        case _:
            if isinstance(expression, syntax.Call) and expression.name not in facts.FUNCTIONS:
                yield expression.line, f"there is no function {expression.name}"
            for inner in syntax.children(expression):
                yield from _unknown(inner, known, line)


def _unused(file: File) -> Found:
    used = {part.name for one in file.statements for part in parts_of(one.value) if isinstance(part, syntax.Name)}
    for one in file.all("param", "var"):
        if one.name not in used:
            yield one.line, f"{one.kind} {one.name} is never used"


def _described(file: File) -> Found:
    for one in file.all("param", "output"):
        if one.decorator("description") is None:
            yield one.line, f"{one.kind} {one.name} has no @description"


def _types(file: File) -> Found:
    for one in file.all("resource"):
        type_, _, version = one.type.partition("@")
        if facts.RESOURCES.get(type_) != version:
            yield one.line, f"{one.type} is not on the list of known resource types"
        if one.body is None or one.body.get("name") is None:
            yield one.line, f"resource {one.name} has no name"


def _secrets(file: File) -> Found:
    for one in file.statements:
        texts = [part for part in parts_of(one.value) if isinstance(part, syntax.Text)]
        if any(pattern.search(part) for text in texts for part in _said(text) for pattern in SECRETS):
            yield one.line, f"{one.kind} {one.name} says a secret"
        if one.kind == "param" and SPEAKING.search(one.name) and one.type in ("string", "object"):
            if one.decorator("secure") is None:
                yield one.line, f"param {one.name} holds a secret and is not @secure"
            elif one.value is not None:
                yield one.line, f"param {one.name} is @secure and has a default"
        if one.kind == "output" and _tells(one):
            yield one.line, f"output {one.name} tells a secret: outputs are kept in the history of deployments"


def _said(text: syntax.Text) -> Iterator[str]:
    return (part for part in text.parts if isinstance(part, str))


def _tells(one: Statement) -> bool:
    return any(isinstance(part, syntax.Member) and SPEAKING.search(part.name) for part in parts_of(one.value))


def _keys(file: File) -> Found:
    for one in file.statements:
        for part in parts_of(one.value):
            name = part.name if isinstance(part, syntax.Call | syntax.Member) else ""
            if TELLING.match(name):
                yield one.line, f"{name} fetches a key; identities need none"


def _roles(file: File) -> Found:
    for one in file.statements:
        for name, text in _labelled(one):
            for guid in (match.group().lower() for part in _said(text) for match in GUID.finditer(part)):
                if facts.ROLES.get(name) != guid:
                    yield one.line, f"{name} is not the role {guid}"


def _labelled(one: Statement) -> Iterator[tuple[str, syntax.Text]]:
    """Texts with the name that stands before them."""
    if isinstance(one.value, syntax.Text):
        yield one.name, one.value
    for part in parts_of(one.value):
        if isinstance(part, syntax.Mapping):
            yield from ((key.plain or "", value) for key, value in part.entries if isinstance(value, syntax.Text))
        elif isinstance(part, syntax.Call):
            yield from ((part.name, value) for value in part.arguments if isinstance(value, syntax.Text))


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
        yield from _parameters(one, inner[one.name])
    for part in (part for one in file.statements for part in parts_of(one.value)):
        if isinstance(part, syntax.Member) and isinstance(part.of, syntax.Member) and part.of.name == "outputs":
            module = part.of.of.of if isinstance(part.of.of, syntax.Element) else part.of.of
            known = inner.get(module.name) if isinstance(module, syntax.Name) else None
            if known is not None and part.name not in known.named("output"):
                yield part.line, f"the module has no output {part.name}"


def _parameters(one: Statement, file: File) -> Found:
    given = one.body.get("params") if one.body else None
    names = {key.plain for key, _ in given.entries} if isinstance(given, syntax.Mapping) else set()
    wanted = file.named("param")
    for name in sorted(str(name) for name in names - set(wanted)):
        yield one.line, f"module {one.name} takes no {name}"
    for name, param in wanted.items():
        if name not in names and param.value is None:
            yield one.line, f"module {one.name} is not given {name}"
