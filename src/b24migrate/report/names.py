"""What things are called in the reader's language: the helpers of the template."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from b24migrate.engine.plan import Run
from b24migrate.insight.losses import LOSSES
from b24migrate.insight.report import Facts
from b24migrate.insight.report.data import ORDER
from b24migrate.insight.report.model import EntityFacts, StreamFacts
from b24migrate.messages import Words, render
from b24migrate.model.streams import LATE, PHASES


def helpers(words: Words) -> Mapping[str, object]:
    named = words.named

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
        "wanted": lambda run, facts: wanted(words, run, facts),
        "missing": lambda entities: missing(words, entities),
        "lost": lambda streams: lost(words, streams),
        "ending": lambda run: ending(words, run),
        "reason": lambda text: render(text, words.language) if isinstance(text, str) else text,
    }


def ending(words: Words, run: Run) -> str:
    if run.state == "paused":
        return words("report.ended.paused")
    return words(f"report.ended.{'none' if run.exit_code is None else run.exit_code}")


def wanted(words: Words, run: Run, facts: Facts) -> str:
    """What a run was asked to do."""
    everything = words("report.runs.everything")
    all_entities = len(run.plan.entities) == len(facts.entities)
    entities = everything if all_entities else _listed(words, "entity", run.plan.entities)
    all_phases = tuple(run.plan.phases) == PHASES
    return entities if all_phases else f"{entities}: {_listed(words, 'phase', run.plan.phases)}"


def missing(words: Words, entities: Iterable[EntityFacts]) -> str:
    """Which steps are not done, by kind."""
    found = []
    for entity in entities:
        if entity.missing:
            steps = _listed(words, "phase", (one.phase for one in entity.missing if one.phase != LATE))
            found.append(f"{words.named('entity', entity.name)} ({steps})")
    return ", ".join(found)


def lost(words: Words, streams: Sequence[StreamFacts]) -> list[tuple[str, int, str]]:
    """Each kind of loss: how often, and in which streams."""
    found = []
    for name in LOSSES:
        own = [(one.losses[name], words.named("stream", one.name)) for one in streams if one.losses.get(name)]
        if own:
            found.append((name, sum(count for count, _ in own), ", ".join(f"{whose} {count}" for count, whose in own)))
    return found


def _listed(words: Words, kind: str, names: Iterable[str]) -> str:
    return ", ".join(words.named(kind, name) for name in names)


def _stream_names(words: Words, streams: Iterable[StreamFacts]) -> str:
    return _listed(words, "stream", (one.name for one in streams))
