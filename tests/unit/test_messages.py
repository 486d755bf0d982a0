"""Messages are keys with values: both languages say the same, and a message survives wherever a text goes."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from string import Formatter

import pytest
from tests.unit.reasons_in_source import reasons

from b24migrate import messages
from b24migrate.engine.state import BLOCKED, DONE, FAILED, PENDING, RUNNING, SKIPPED
from b24migrate.entities import FILES, catalog
from b24migrate.messages import (
    FORMS,
    NARROW_SPACE,
    Message,
    join,
    pack,
    preferred,
    render,
    revise,
    say,
    templates,
    topics,
    unpack,
    words,
)
from b24migrate.messages.pages import SETTINGS
from b24migrate.model.streams import LATE, PHASES

GREETINGS = {
    "en": {"t.hello": "Hello {name}", "t.files.one": "{count:,} file", "t.files.many": "{count:,} files"},
    "ru": {
        "t.hello": "Здравствуйте, {name}",
        "t.files.one": "{count:,} файл",
        "t.files.few": "{count:,} файла",
        "t.files.many": "{count:,} файлов",
    },
}


@pytest.fixture
def greetings(monkeypatch: pytest.MonkeyPatch) -> None:
    real = templates

    def some(language: str, topic: str) -> Mapping[str, str]:
        return GREETINGS[language] if topic == "t" else real(language, topic)

    monkeypatch.setattr(messages, "templates", some)


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def all_of(language: str) -> dict[str, str]:
    """Without what only the English file has: how a page of an error code is treated."""
    found = {key: text for topic in topics() for key, text in templates(language, topic).items()}
    return {key: text for key, text in found.items() if not (key.startswith("errors.page.") and _last(key) in SETTINGS)}


def counted(keys: Mapping[str, str]) -> dict[str, set[str]]:
    """Keys of counted messages -> their forms."""
    found: dict[str, set[str]] = {}
    for key in keys:
        whole, _, form = key.rpartition(".")
        if form in FORMS:
            found.setdefault(whole, set()).add(form)
    return {key: forms for key, forms in found.items() if "many" in forms}


def _last(key: str) -> str:
    return key.rpartition(".")[2]


# ---------------------------------------------------------------- the files


def test_every_language_has_the_files_and_keys_of_the_first_with_the_same_values() -> None:
    english, russian = all_of("en"), all_of("ru")
    assert counted(english).keys() == counted(russian).keys()
    assert set(map(frozenset, counted(english).values())) <= {frozenset({"one", "many"})}
    assert set(map(frozenset, counted(russian).values())) <= {frozenset(FORMS)}
    plain = [
        {key for key in keys if key.rpartition(".")[0] not in forms}
        for keys, forms in ((english, counted(english)), (russian, counted(russian)))
    ]
    assert sorted(plain[0]) == sorted(plain[1])
    for key in plain[0]:
        assert placeholders(english[key]) == placeholders(russian[key]), key
    for key in counted(english):
        for form in FORMS:
            assert placeholders(russian[f"{key}.{form}"]) - {"count"} == placeholders(english[f"{key}.many"]) - {
                "count"
            }, key


def test_every_entity_stream_phase_and_state_has_a_name_in_every_language() -> None:
    known = catalog()
    wanted = [("entity", one.name) for one in known.entities]
    wanted += [("stream", name) for name in (*known.streams, FILES.name)]
    wanted += [("phase", name) for name in (*PHASES, LATE)]
    wanted += [("state", name) for name in (PENDING, RUNNING, DONE, FAILED, BLOCKED, SKIPPED)]
    assert not [name for kind, name in wanted if f"names.{kind}.{name}" not in words("en")]


def test_every_reason_of_a_target_is_a_message() -> None:
    found = list(reasons())
    assert found
    assert not [place for place, key in found if not key.startswith("reason.")]


def test_every_reason_of_the_import_module_is_word_for_word_what_the_module_says() -> None:
    """Otherwise a Russian reader gets the English sentence."""
    module = Path(__file__).parents[2] / "box-module" / "b24migrate.import" / "lib"
    sources = "".join(path.read_text("utf-8") for path in module.rglob("*.php"))
    sentences = {key: text for key, text in templates("en", "reason").items() if key.startswith("reason.module_")}
    assert sentences
    assert not [key for key, text in sentences.items() if f"'{text}'" not in sources]


def test_a_record_without_a_name_goes_by_its_own() -> None:
    assert words("ru").named("entity", "made_up") == "made_up"


def test_a_browser_gets_the_language_it_prefers_among_those_there_are() -> None:
    assert preferred("ru-RU,ru;q=0.9,en;q=0.8") == "ru"
    assert preferred("de, en;q=0.5, ru;q=0.7") == "ru"
    assert preferred("fr") == "en"
    assert preferred("ru;q=nonsense, en;q=0.1") == "en"
    assert preferred("") == "en"


# ---------------------------------------------------------------- messages


@pytest.mark.usefixtures("greetings")
def test_a_message_reads_as_english_and_is_rendered_for_its_reader() -> None:
    message = say("t.hello", name="Анна")
    assert message == "Hello Анна"
    assert render(message, "ru") == "Здравствуйте, Анна"
    assert render(message, "en") == render(message, "xx") == "Hello Анна"
    assert render("Access denied.", "ru") == "Access denied."


@pytest.mark.usefixtures("greetings")
def test_values_may_be_messages_and_lists_of_them() -> None:
    inner = say("t.hello", name="Анна")
    message = say("t.hello", name=[inner, "Pete"])
    assert message == "Hello Hello Анна, Pete"
    assert render(message, "ru") == "Здравствуйте, Здравствуйте, Анна, Pete"
    several = join([inner, "", "Pete"], "; ")
    assert render(several, "ru") == "Здравствуйте, Анна; Pete"
    assert join(["", inner]) is inner


@pytest.mark.usefixtures("greetings")
@pytest.mark.parametrize(
    ("count", "english", "russian"),
    [
        (1, "1 file", "1 файл"),
        (2, "2 files", "2 файла"),
        (5, "5 files", "5 файлов"),
        (11, "11 files", "11 файлов"),
        (21, "21 files", "21 файл"),
        (112, "112 files", "112 файлов"),
        (1200, "1,200 files", f"1{NARROW_SPACE}200 файлов"),
        (0, "0 files", "0 файлов"),
    ],
)
def test_a_number_chooses_the_form_of_its_noun(count: int, english: str, russian: str) -> None:
    message = say("t.files", count=count)
    assert message == english
    assert render(message, "ru") == russian


@pytest.mark.usefixtures("greetings")
def test_a_value_is_not_taken_for_a_template() -> None:
    message = say("t.hello", name="{0.__class__} {name}")
    assert message == "Hello {0.__class__} {name}"
    assert render(message, "ru") == "Здравствуйте, {0.__class__} {name}"


@pytest.mark.usefixtures("greetings")
def test_an_unknown_key_is_a_bug_and_one_from_another_version_stays_english() -> None:
    with pytest.raises(KeyError):
        say("t.goodbye")
    with pytest.raises(KeyError):
        say("t.hello")
    assert render(Message.of("Bye", "t.goodbye", {}), "ru") == "Bye"
    assert render(Message.of("Bye", "../t.hello", {}), "ru") == "Bye"


@pytest.mark.usefixtures("greetings")
def test_a_store_keeps_key_and_values_beside_the_text() -> None:
    inner = say("t.files", count=2)
    for message in (say("t.hello", name=inner), say("t.hello", name=[inner, "Pete"]), join([inner, "x"])):
        again = unpack(str(message), pack(message))
        assert again == message
        assert render(again, "ru") == render(message, "ru") != message
        assert render(copy.deepcopy(message), "ru") == render(copy.copy(message), "ru") == render(message, "ru")
    assert pack("Access denied.") is None


@pytest.mark.parametrize("damaged", [None, "", "{", "[]", "5", "{}", '{"key":1}', '{"key":"t.hello","values":[]}'])
def test_a_damaged_key_leaves_the_text(damaged: str | None) -> None:
    assert render(unpack("Hello", damaged), "ru") == "Hello"


@pytest.mark.usefixtures("greetings")
def test_a_change_reaches_every_value() -> None:
    message = say("t.hello", name=[say("t.hello", name="secret"), "secret", 5])
    revised = revise(message, lambda text: text.replace("secret", "***"))
    assert revised == "Hello Hello ***, ***, 5"
    assert render(revised, "ru") == "Здравствуйте, Здравствуйте, ***, ***, 5"
