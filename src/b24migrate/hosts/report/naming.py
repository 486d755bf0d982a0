"""What things are called in the reader's language: the helpers of the template."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from b24migrate.hosts.words import DEFAULT, Words
from b24migrate.hosts.words import words as words_of
from b24migrate.hosts.words.errors_of import fixes_words, message_words, page_words
from b24migrate.pipeline.plan import Run
from b24migrate.pipeline.reporting import Excerpt
from b24migrate.pipeline.reporting.gathering import ORDER
from b24migrate.pipeline.reporting.model import StreamFacts
from b24migrate.streams import PHASES

REASONS = "reason."


def helpers(words: Words) -> Mapping[str, object]:
    named = words.named
    language = words.language

    def phase_names(phases: Sequence[str]) -> str:
        return words("report.runs.everything") if tuple(phases) == PHASES else _listed(words, "phase", phases)

    def fate_name(fate: str) -> str:
        key = f"report.fate.{fate}"
        return words(key) if key in words else fate

    return {
        "w": words,
        "phase_order": ORDER,
        "part_name": lambda kind: words(f"report.part.{kind}"),
        "phase_name": lambda phase: named("phase", phase),
        "speed_name": lambda kind: words(f"report.timing.{kind}"),
        "fate_name": fate_name,
        "stream_names": lambda streams: _stream_names(words, streams),
        "entity_names": lambda names: _listed(words, "entity", names),
        "phase_names": phase_names,
        "ending": lambda run: ending(words, run),
        "page_words": lambda code: page_words(code, language),
        "fixes_words": lambda group: fixes_words(group, language),
        "message_words": lambda text: text if isinstance(text, Excerpt) else message_words(text, language),
        "reason": reasons(words),
    }


def ending(words: Words, run: Run) -> str:
    if run.state == "paused":
        return words("report.ended.paused")
    return words(f"report.ended.{'none' if run.exit_code is None else run.exit_code}")


def reasons(words: Words) -> Callable[[object], object]:
    """Why something was set aside is kept in English; where the sentence is ours, it is said in the reader's words."""
    english = words_of(DEFAULT).topic("report")
    known: dict[object, str] = {
        text: words(f"report.{key}") for key, text in english.items() if key.startswith(REASONS)
    }
    return lambda text: known.get(text, text)


def _listed(words: Words, kind: str, names: Iterable[str]) -> str:
    return ", ".join(words.named(kind, name) for name in names)


def _stream_names(words: Words, streams: Iterable[StreamFacts]) -> str:
    return _listed(words, "stream", (one.name for one in streams))
