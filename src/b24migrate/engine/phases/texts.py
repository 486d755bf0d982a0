"""Ids inside texts: mentions, chat links, and links to the old portal's pages, rewritten in one place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple
from urllib.parse import urlsplit

from b24migrate.model.records import Json
from b24migrate.model.streams import Stream

# no choice at the top level; then characters that stand for themselves and must be there
_PLAIN = re.compile(r"(?!.*\|(?![^(]*\)))(?:(?:[^\\.^$*+?{}\[\]|()]|\\\W)(?![*?{]))*", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)")
_ALIKE = (("\u0131", "i"), ("\u0130", "i"), ("\u017f", "s"), ("\u212a", "k"))
TargetIds = Callable[[str, set[str]], dict[str, str]]
NOBODY = "0"


class RewrittenText(NamedTuple):
    text: str
    missing: Sequence[tuple[str, str]] = ()  # stream and source id of each that could not be resolved


@dataclass(frozen=True)
class _Pattern:
    stream: str
    text: str
    link: bool
    prefix: str
    beginning: str  # in small letters: without it nothing matches
    first: int  # the group with the id; of a pair the parent's, the child's follows
    ids: tuple[str, ...] = ()  # the stream of each group, where they are not parent and child

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """Compiled when a text first needs it: there are many patterns, and a command may need none of them."""
        return re.compile(self.text, re.IGNORECASE)

    @property
    def groups(self) -> range:
        return range(self.first, self.regex.groups + 1)

    def source_id(self, match: re.Match[str]) -> str:
        together = ":".join(match[group] for group in self.groups)
        return together if self.ids else self.prefix + together

    def named(self, together: str) -> Iterator[tuple[str, str]]:
        """Of several records side by side each with its stream. The prefix belongs to the first."""
        for place, (stream, number) in enumerate(zip(self.ids, together.split(":"), strict=True)):
            yield stream, number if place or number == NOBODY else self.prefix + number


class TextRewriter:
    """Built from the mentions of every stream. IDs that cannot be resolved stay unchanged and are counted."""

    def __init__(self, streams: Iterable[Stream], source_url: str, target_url: str) -> None:
        known = list(streams)
        self._parents = {stream.name: stream.parent for stream in known}
        self._target = _origin(target_url)
        host = re.escape(urlsplit(source_url).netloc or "\0")
        # With the portal before it, or from its root; not a part of another address.
        page = rf"(https?://{host}|(?<![\w/.:%-])){{}}"
        self._patterns = [
            _Pattern(
                stream.name,
                page.format(mention.pattern) if mention.link else mention.pattern,
                mention.link,
                mention.prefix,
                _plain_beginning(mention.pattern),
                2 if mention.link else 1,
                mention.ids,
            )
            for stream in known
            for mention in stream.mentions
        ]
        # Most texts hold neither a tag with an id nor a link: one test decides. A few are named by another sign.
        rooms = {mention.pattern.split("/")[1] for stream in known for mention in stream.mentions if mention.link}
        roots = "".join(f"|/{re.escape(room)}/" for room in sorted(rooms))
        bare = sorted({one.beginning for one in self._patterns if not one.link and not one.beginning.startswith("[")})
        roots += "".join(f"|{re.escape(one)}" for one in bare)
        self._worth = re.compile(rf"\[[A-Za-z ]+=|://{host}{roots}", re.IGNORECASE)

    def may_hold_ids(self, text: Json) -> bool:
        """Whether there may be something to rewrite in it."""
        return isinstance(text, str) and any(one in text for one in "[/:") and self._worth.search(text) is not None

    def rewrite(self, text: str, target_ids: TargetIds) -> RewrittenText:
        if not self.may_hold_ids(text):
            return RewrittenText(text)
        missing: list[tuple[str, str]] = []
        small = _lower_case(text)
        for pattern in self._patterns:
            if pattern.beginning not in small:  # that is seen much faster than that the pattern does not match
                continue
            wanted = {pattern.source_id(match) for match in pattern.regex.finditer(text)}
            if not wanted:
                continue
            known = self._find_targets(pattern, wanted, target_ids)
            missing += [self._find_missing(pattern, one, target_ids) for one in sorted(wanted - known.keys())]
            text = pattern.regex.sub(partial(self._replace, pattern, known), text)
            small = _lower_case(text)
        return RewrittenText(text, missing)

    def mentioned(self, text: str) -> Iterator[tuple[str, str]]:
        """Stream and source id of every record that it names."""
        if not self.may_hold_ids(text):
            return
        small = _lower_case(text)
        for pattern in self._patterns:
            if pattern.beginning not in small:
                continue
            for match in pattern.regex.finditer(text):
                if pattern.ids:
                    yield from pattern.named(pattern.source_id(match))
                    continue
                yield pattern.stream, pattern.source_id(match)
                if len(pattern.groups) > 1:
                    yield self._parents[pattern.stream], match[pattern.first]

    def _find_targets(self, pattern: _Pattern, wanted: set[str], target_ids: TargetIds) -> dict[str, list[str]]:
        """Source id -> what stands for its group, or for parent and child of a pair."""
        if pattern.ids:
            return self._find_each(pattern, wanted, target_ids)
        found = target_ids(pattern.stream, wanted)
        if len(pattern.groups) == 1:
            return {source_id: [target_id] for source_id, target_id in found.items()}
        parents = target_ids(self._parents[pattern.stream], {source_id.partition(":")[0] for source_id in wanted})
        return {
            source_id: [parents[parent], target_id]
            for source_id, target_id in found.items()
            if (parent := source_id.partition(":")[0]) in parents
        }

    def _find_missing(self, pattern: _Pattern, source_id: str, target_ids: TargetIds) -> tuple[str, str]:
        """Of several records side by side the first that has no target."""
        named = ((stream, one) for stream, one in pattern.named(source_id) if one != NOBODY) if pattern.ids else ()
        lost = (one for one in named if not target_ids(one[0], {one[1]}))
        return next(lost, (pattern.stream, source_id))

    def _find_each(self, pattern: _Pattern, wanted: set[str], target_ids: TargetIds) -> dict[str, list[str]]:
        """Records of several streams side by side. `0` is no record, everywhere."""
        found: dict[str, list[str]] = {}
        for together in wanted:
            known = [
                source_id if source_id == NOBODY else target_ids(stream, {source_id}).get(source_id)
                for stream, source_id in pattern.named(together)
            ]
            if all(known):
                found[together] = [str(one) for one in known]
        return found

    def _replace(self, pattern: _Pattern, known: dict[str, list[str]], match: re.Match[str]) -> str:
        target_ids = known.get(pattern.source_id(match))
        if target_ids is None:
            return match[0]
        whole, end = match[0], match.start()
        for group, target_id in reversed(list(zip(pattern.groups, target_ids, strict=True))):
            whole = whole[: match.start(group) - end] + target_id + whole[match.end(group) - end :]
        return self._target + whole[len(match[1]) :] if pattern.link and match[1] else whole


def _plain_beginning(pattern: str) -> str:
    """The plain characters at the start of every match."""
    found = _PLAIN.match(pattern)
    return _lower_case(_ESCAPED.sub(r"\1", found[0])) if found else ""


def _lower_case(text: str) -> str:
    """As regular expressions compare letters of either case: to them some stand for others besides."""
    if not text.isascii():
        for one, other in _ALIKE:
            text = text.replace(one, other)
    return text.lower()


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
