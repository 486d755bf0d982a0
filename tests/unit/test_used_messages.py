"""Every message is said somewhere: its key is in the source, whole or as the parts that it is built from."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from b24migrate import messages
from b24migrate.messages import FORMS, templates, topics

SOURCE = Path(messages.__file__).parents[1]
MODULE = SOURCE.parents[1] / "box-module" / "b24migrate.import" / "lib"  # its self-test answers with keys
LOADER = "messages.js"  # puts `fidelity.` before the keys of that topic, whatever they are
ANY = "*"  # a part that is known only when it runs
# A quote and what may be a key behind it. In a script `${…}` is such a part, in a template what follows `~`.
QUOTED = re.compile(r"[\"'`]((?:[\w.-]|\$\{[^{}]*\})+)(?:[\"'] ~)?")
KEY = re.compile(r"[a-z]\w*(\.[\w.*-]*)?")  # a key begins with a part that is known


def python_texts(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(str(one.value) if isinstance(one, ast.Constant) else ANY for one in node.values)


def quoted_texts(source: str) -> Iterator[str]:
    for match in QUOTED.finditer(source):
        yield re.sub(r"\$\{[^{}]*\}", ANY, match[1]) + (ANY if match[0].endswith("~") else "")


def texts_in_source() -> Iterator[str]:
    """Scripts have the topic `page`, and a module may ask for a whole topic: they name its messages without it."""
    for path in (*SOURCE.rglob("*.*"), *MODULE.rglob("*.php")):
        if path.suffix not in (".py", ".html", ".js", ".php"):
            continue
        source = path.read_text("utf-8")
        if path.name == LOADER:
            yield from (f"page.{key}" for key in re.findall(r'\bsay\("([\w.]+)"', source))
            continue
        found = {one for one in (python_texts if path.suffix == ".py" else quoted_texts)(source) if KEY.fullmatch(one)}
        yield from found
        for topic in ["page"] if path.suffix == ".js" else re.findall(r'\.topic\("(\w+)"\)', source):
            yield from (f"{topic}.{one}{ANY * one.endswith('_')}" for one in found)


def pattern_of(text: str) -> re.Pattern[str]:
    """Where no more than the topic is known, the next part must be a word of the source: `word`."""
    whole = re.escape(text).replace(r"\*", "[^.]*")
    return re.compile(re.sub(r"^(\w+\\.)(\[\^\.\]\*)", r"\1(?P<word>\2)", whole))


def unused(keys: Iterable[str]) -> list[str]:
    texts = set(texts_in_source())
    patterns = [pattern_of(one) for one in texts if ANY in one]

    def is_used(key: str) -> bool:
        matches = (match for pattern in patterns if (match := pattern.fullmatch(key)))
        return key in texts or any(match.groupdict().get("word", "page") in texts for match in matches)

    forms = re.compile(rf"\.({'|'.join(FORMS)})$")
    return [key for key in keys if not is_used(key) and not is_used(forms.sub("", key))]


def test_every_message_is_used() -> None:
    """Pages of error codes have a test of their own: a code may have dots."""
    keys = [key for topic in topics() for key in templates("en", topic) if not key.startswith("errors.page.")]
    made_up = ["cli.nobody_says_this", "page.nobody_says_this", "settings.nobody_says_this", "cli.nobody.says.one"]
    assert unused([*keys, *made_up]) == made_up
