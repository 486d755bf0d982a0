"""Entities and mini-tasks as a person types them: with `_` or `-`, and with a guess when they are misspelt."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from b24migrate.messages import LANGUAGES, say
from b24migrate.model.errors import BadConfiguration

if TYPE_CHECKING:
    from b24migrate.entities import Catalog


def entity_name(text: str, catalog: Catalog) -> str:
    known = [entity.name for entity in catalog.entities]
    name = text.strip().replace("-", "_")
    if name not in known:
        raise unknown_name(text, say("cli.names.entity"), known)
    return name


def stream_name(text: str, known: Iterable[str]) -> str:
    names = list(known)
    name = text.strip().replace("-", "_")
    if name not in names:
        raise unknown_name(text, say("cli.names.stream"), names)
    return name


def language_name(text: str) -> str:
    if text not in LANGUAGES:
        raise unknown_name(text, say("cli.names.language"), LANGUAGES)
    return text


def mini_task(text: str, catalog: Catalog) -> tuple[str, str]:
    """`crm-deals-get` → its entity and phase."""
    from b24migrate.model.streams import PHASES

    tasks = {entity.task(phase): (entity.name, phase) for entity in catalog.entities for phase in PHASES}
    name = text.strip().replace("_", "-")
    if name not in tasks:
        raise unknown_name(text, say("cli.names.task"), list(tasks))
    return tasks[name]


def unknown_name(text: str, what: str, known: Sequence[str], *, hint: str = "") -> BadConfiguration:
    spelled = {name.replace("_", "-").lower(): name for name in known}
    near = difflib.get_close_matches(text.replace("_", "-").lower(), spelled, n=1, cutoff=0.5)
    hint = hint or say("cli.valid", names=", ".join(known))
    if near:
        message = say("cli.names.unknown_near", what=what, text=text, near=spelled[near[0]])
    else:
        message = say("cli.names.unknown", what=what, text=text)
    return BadConfiguration(message, hint=hint, code="USAGE")
