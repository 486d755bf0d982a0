"""Ids inside texts: mentions, chat links, and links to the old portal's pages, rewritten in one place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple
from urllib.parse import urlsplit

from b24migrate.streams import Stream

TargetIds = Callable[[str, set[str]], dict[str, str]]


class Rewritten(NamedTuple):
    text: str
    unresolved: int


class _Pattern(NamedTuple):
    stream: str
    regex: re.Pattern[str]
    link: bool
    prefix: str


class TextRewriter:
    """Built from the mentions of every stream. What cannot be resolved stays as it was, and is counted."""

    def __init__(self, streams: Iterable[Stream], source_url: str, target_url: str) -> None:
        self._target = _origin(target_url)
        host = re.escape(urlsplit(source_url).netloc or "\0")
        self._patterns = [
            _Pattern(
                stream.name,
                re.compile(rf"(https?://{host})({mention.pattern})" if mention.link else mention.pattern),
                mention.link,
                mention.prefix,
            )
            for stream in streams
            for mention in stream.mentions
        ]
        # Most texts hold neither a tag with an id nor a link: one test decides.
        self._worth = re.compile(rf"\[[A-Z ]+=|://{host}")

    def rewrite(self, text: str, target_ids: TargetIds) -> Rewritten:
        if not self._worth.search(text):
            return Rewritten(text, 0)
        unresolved = 0
        for pattern in self._patterns:
            ids = {match[match.re.groups] for match in pattern.regex.finditer(text)}
            if not ids:
                continue
            found = target_ids(pattern.stream, {pattern.prefix + one for one in ids})
            known = {source_id.removeprefix(pattern.prefix): target_id for source_id, target_id in found.items()}
            unresolved += len(ids - known.keys())
            text = pattern.regex.sub(partial(self._replaced, pattern, known), text)
        return Rewritten(text, unresolved)

    def _replaced(self, pattern: _Pattern, known: dict[str, str], match: re.Match[str]) -> str:
        group = match.re.groups
        target_id = known.get(match[group])
        if target_id is None:
            return match[0]
        start, end = match.start(group) - match.start(), match.end(group) - match.start()
        whole = match[0][:start] + target_id + match[0][end:]
        return self._target + whole[len(match[1]) :] if pattern.link else whole


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
