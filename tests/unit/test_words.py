"""The two languages say the same things."""

from __future__ import annotations

from string import Formatter

import pytest
from tests.unit.reasons_in_source import reasons

from b24migrate.entities import FILES, catalog
from b24migrate.hosts.report.sayings import Sayings
from b24migrate.hosts.words import LANGUAGES, Words, preferred, words
from b24migrate.pipeline.state import BLOCKED, DONE, FAILED, PENDING, RUNNING, SKIPPED
from b24migrate.streams import LATE, PHASES


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def all_of(language: str) -> dict[str, str]:
    return dict(words(language)._templates)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_words_of_the_first_with_the_same_places(language: str) -> None:
    first, other = all_of("en"), all_of(language)
    assert sorted(other) == sorted(first)
    assert {key: placeholders(text) for key, text in other.items()} == {
        key: placeholders(text) for key, text in first.items()
    }


def test_a_browser_gets_the_language_it_prefers_among_those_there_are() -> None:
    assert preferred("ru-RU,ru;q=0.9,en;q=0.8") == "ru"
    assert preferred("de, en;q=0.5, ru;q=0.7") == "ru"
    assert preferred("fr") == "en"
    assert preferred("ru;q=nonsense, en;q=0.1") == "en"
    assert preferred("") == "en"


def test_what_is_filled_in_is_not_taken_for_a_template() -> None:
    assert Words("en", {"greeting": "Hello {name}"})("greeting", name="{0.__class__}") == "Hello {0.__class__}"


def test_every_entity_stream_phase_and_state_has_a_name_in_every_language() -> None:
    known = catalog()
    wanted = [("entity", one.name) for one in known.entities]
    wanted += [("stream", name) for name in (*known.streams, FILES.name)]
    wanted += [("phase", name) for name in (*PHASES, LATE)]
    wanted += [("state", name) for name in (PENDING, RUNNING, DONE, FAILED, BLOCKED, SKIPPED)]
    assert not [name for kind, name in wanted if f"names.{kind}.{name}" not in words("en")]


def test_what_nobody_has_named_goes_by_its_own_name() -> None:
    assert words("ru").named("entity", "made_up") == "made_up"


def test_every_reason_of_a_target_is_told_in_every_language() -> None:
    found = reasons()
    assert found
    for language in LANGUAGES[1:]:
        told = Sayings(words(language))
        assert not {reason: file for reason, file in found.items() if told(reason) == reason}
