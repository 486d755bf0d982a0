"""What people read uses the plain words of the trade: messages, help, README and docs, in both languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from b24migrate.entities import catalog
from b24migrate.messages import LANGUAGES, templates, topics
from b24migrate.messages.pages import SETTINGS

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"```.*?```|`[^`]*`|\{[^}]*\}|\]\([^)]*\)|<!--.*?-->", re.DOTALL)
FENCE = re.compile(r"^( *)```.*?^\1```", re.DOTALL | re.MULTILINE)

BANNED = {
    "en": (
        r"whoever",
        r"whatever",
        r"whom",
        r"somebody|someone|nobody|everybody|anybody",
        r"he|him|his",
        r"foret(?:old|ell\w*)",
        r"fores(?:ee|een)",
        r"in vain",
        r"nought|naught",
        r"(?:is|are) none",
        r"is no(?! longer| such| more)(?<!there is no)",
        r"stays? behind|left behind",
        r"left out|leaves? out",
        r"told by",
        r"cannot be (?:had|told|asked)",
        r"in hand",
        r"rightly",
        r"such(?! as)(?<!no such)",
        r"mend(?:s|ed|ing)?",
        r"anew|once more",
        r"besides?",
        r"under way",
        r"at its end",
        r"go(?:es)? on|gone on|going on|went on",
        r"beg(?:in|ins|an|un|inning)",
        r"by (?:itself|themselves)",
        r"tr(?:y|ies|ied) again",
        r"take\w* back|taken back|taking back",
        r"try-outs?",
        r"dead letters?",
        r"mini-tasks?",
        r"e-mails?",
        r"ids?",
        r"kinds? of records?|of each kind",
        r"set aside",
        r"house moving|move house",
        r"of ours|ours",
        r"tick(?:ed)?",
        r"the new portal|the old portal",
        r"lost sight",
        r"kB",
    ),
    "ru": (
        r"на коробк[еу]",
        r"источник\w*",
        r"(?:нов|стар|целев|исходн)\w+ портал\w*",
        r"приёмник\w*",
        r"переезд\w*|переезжа\w*",
        r"(?:то|всё), что не удалось",
        r"не удалось:",
        r"(?:приходит|приходят|приезжа\w+|доедет|доедут)",
        r"предсказ\w+",
        r"вид\w* записей|каждого вида",
        r"част\w+ работы",
        r"ворот[а]?",
        r"сущност\w+",
        r"обработчик\w*",
        r"мини-задач\w*",
        r"осмотр\w*",
        r"id|e-mail",
        r"идентификатор\w*",
        r"нас|нам|мы|наш(?:а|е|и|его|ему|ей|их)?",
        r"подставн\w+",
        r"проб[ауые]",
        r"впишите|назовите|отметьте",
        r"пусть",
        r"поток\w*",
        r"кто-то|кому-то|некому",
        r"фаз[аыеу]?",
        r"портал (?:говорит|знает|понимает|просит|хочет)",
        r"коробка (?:говорит|знает|понимает|просит|хочет)",
        r"приём данных",
        r"сут",
        r"живая лента",
        r"адресат\w*",
        r"сохранность",
        r"недоставленн\w+",
        r"рабоч\w+ процесс\w*",
    ),
}
PATTERNS = {
    language: re.compile("|".join(rf"(?<![\w`/.-])(?:{one})(?![\w-])" for one in several), re.IGNORECASE)
    for language, several in BANNED.items()
}
RIGHT = {"ID", "IDs", "KB"}  # in capitals only


def faults(language: str, text: str) -> list[str]:
    """The banned words of a text, without what stands in code or is filled in."""
    plain = CODE.sub(" ", FENCE.sub(" ", text))
    return [match[0] for match in PATTERNS[language].finditer(plain) if match[0] not in RIGHT]


def spoken(language: str) -> Iterator[tuple[str, str]]:
    catalog()  # the families' own names
    for topic in topics():
        for key, text in templates(language, topic).items():
            if not (key.startswith("errors.page.") and key.rpartition(".")[2] in SETTINGS):
                yield key, text


def documents(language: str) -> Iterator[Path]:
    written = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "deploy").rglob("*.md")]
    for path in sorted(written):
        if (path.name.endswith(".ru.md")) == (language == "ru") and path.name != "CHANGELOG.md":
            yield path


@pytest.mark.parametrize("language", LANGUAGES)
def test_messages_are_plain(language: str) -> None:
    assert not {key: bad for key, text in spoken(language) if (bad := faults(language, text))}


def without_fences(text: str) -> str:
    """With as many lines as before."""
    return FENCE.sub(lambda match: "\n" * match[0].count("\n"), text)


def test_a_bad_word_is_found_and_code_is_not_looked_at() -> None:
    assert faults("en", "Whoever mends it begins anew, by e-mail, with the id") == [
        "Whoever",
        "mends",
        "begins",
        "anew",
        "e-mail",
        "id",
    ]
    assert faults("en", "`whoever` {nobody} [here](docs/begin.md), such as an ID") == []
    assert faults("ru", "Переезд на коробку: id из источника") == ["Переезд", "на коробку", "id", "источника"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_documents_are_plain(language: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {bad}"
        for path in documents(language)
        for number, line in enumerate(without_fences(path.read_text("utf-8")).splitlines(), 1)
        if (bad := faults(language, line))
    ]
    assert not found
