"""The page of the report, in the language of the reader. The template only does the layout."""

from __future__ import annotations

import hashlib
import unicodedata
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from b24migrate import __version__
from b24migrate.engine.plan import Run
from b24migrate.insight.losses import LOSSES
from b24migrate.insight.report import Excerpt, Facts, Standing, Tally
from b24migrate.insight.report.data import ORDER
from b24migrate.insight.report.model import EXCERPT, FIRST, EntityFacts, FileFacts, StreamFacts
from b24migrate.messages import LANGUAGES, Words, render
from b24migrate.messages.measures import POINT, duration
from b24migrate.messages.terminal import harmless
from b24migrate.model.streams import LATE, PHASES
from b24migrate.monitor.logs import mask_email
from b24migrate.report import charts, csv_tables
from b24migrate.report.tables import TABLES

if TYPE_CHECKING:
    from jinja2 import Environment


LONGEST_CELL = 32_000  # characters; a spreadsheet takes 32,767
LONGEST_WORD = 28  # characters; a table's column is as wide as its longest word
KEPT = "\n\t\u200c\u200d\u00ad"  # line breaks, and joiners, which are part of some scripts
STRANGE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
BETWEEN = {"en": ",", "ru": "\u00a0"}  # the thousands
DATES = {"en": "%Y-%m-%d", "ru": "%d.%m.%Y"}
DAYS = {"en": "%m-%d", "ru": "%d.%m"}
NONE = "–"
SIZES = ("b", "kb", "mb", "gb", "tb")
STEP = 1000.0


class Texts:
    def __init__(self, words: Words, redact: Callable[[str], str]) -> None:
        self._words = words
        self.redact = redact

    def for_page(self, text: object, most: int = EXCERPT) -> str:
        """For the page, in one line; e-mail addresses are masked there, since a report is handed around."""
        whole = text.text if isinstance(text, Excerpt) else self.redact(str(text))
        beginning, length = whole[:most], text.length if isinstance(text, Excerpt) else len(whole)
        shown = harmless(mask_email(self.redact(beginning)))
        return self._long(shown, length) if length > len(beginning) else shown

    def for_cell(self, text: str) -> str:
        """For a spreadsheet: line breaks stay, and nothing is taken for a formula."""
        if text.isprintable() and len(text) <= LONGEST_CELL:  # nearly all of a million
            return csv_tables.harmless(text)
        shown = "".join(map(_plain, text[:LONGEST_CELL].replace("\r\n", "\n").replace("\r", "\n")))
        if max(len(shown), len(text)) > LONGEST_CELL:
            shown = self._long(shown[:LONGEST_CELL], len(text))
        return csv_tables.harmless(shown)

    def _long(self, text: str, length: int) -> str:
        return self._words("report.cut", text=text, length=f"{length:,}")


def has_long_word(text: str) -> bool:
    """Has a word so long that it must be broken somewhere."""
    return any(len(word) > LONGEST_WORD for word in text.split())


def _plain(one: str) -> str:
    """Invisible characters are escaped as in JSON: \\u202e."""
    if one in KEPT or unicodedata.category(one) not in STRANGE:
        return one
    units = one.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


TEMPLATE = "report.html"


@dataclass(frozen=True, slots=True)
class Site:
    """Addresses that the page uses. A file needs none: its style is inside, its tables are next to it."""

    static: str = ""  # of the folder with `report.css` and `icon.svg`
    tables: str = ""  # prefix of each table
    home: str = ""  # of the front page


A_FILE = Site()


@dataclass(frozen=True, slots=True)
class Page:
    facts: Facts
    files: FileFacts
    tallies: Mapping[str, Tally]
    settings: Sequence[tuple[str, str]]
    people: str  # the stream whose records are persons
    sample: int  # so many records of each kind are verified

    def html(self, words: Words, amounts: Formats, texts: Texts, site: Site) -> str:
        style = style_sheet()
        facts = self.facts
        return (
            environment(words, amounts, texts)
            .get_template(TEMPLATE)
            .render(
                version=__version__,
                site=site,
                languages=LANGUAGES,
                style=style,
                style_hash=b64encode(hashlib.sha256(style.encode()).digest()).decode(),
                facts=facts,
                files=self.files,
                tallies=self.tallies,
                tables=TABLES,
                settings=dict(self.settings),
                verdict=verdict_sentence(facts, words, amounts),
                most=FIRST,
                bars=charts.draw_bars(facts.concerned),
                timeline=charts.draw_timeline(facts.concerned, facts.at),
                speeds=charts.draw_speeds(facts.history),
                chart=charts,
                people=self.people,
                sample=self.sample,
            )
        )


def style_sheet() -> str:
    return (files(__package__) / "templates" / "style.css").read_text("utf-8")


def verdict_sentence(facts: Facts, words: Words, amounts: Formats) -> str:
    limit = amounts.number(facts.run.plan.test_limit) if facts.run and facts.standing is Standing.TRY_OUT else ""
    return words(f"report.verdict.{facts.standing}", limit=limit)


def environment(words: Words, amounts: Formats, texts: Texts) -> Environment:
    """Escapes whatever is filled in. `shown` is for every text that is not ours."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "number": amounts.number,
        "signed": amounts.signed,
        "duration": amounts.duration,
        "size": amounts.size,
        "error": amounts.error,
        "utc": amounts.utc,
        "local": amounts.local,
        "shown": texts.for_page,
    }
    made.tests["unbroken"] = has_long_word
    made.globals |= {
        **helpers(words),
        "tick": amounts.tick,
        "zone": amounts.zone.key,
    }
    return made


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
        "wanted": lambda run, facts: describe_plan(words, run, facts),
        "missing": lambda entities: list_missing(words, entities),
        "lost": lambda streams: list_losses(words, streams),
        "ending": lambda run: describe_end(words, run),
        "reason": lambda text: render(text, words.language) if isinstance(text, str) else text,
    }


def describe_end(words: Words, run: Run) -> str:
    if run.state == "paused":
        return words("report.ended.paused")
    return words(f"report.ended.{'none' if run.exit_code is None else run.exit_code}")


def describe_plan(words: Words, run: Run, facts: Facts) -> str:
    """The entities and phases of a run."""
    everything = words("report.runs.everything")
    all_entities = len(run.plan.entities) == len(facts.entities)
    entities = everything if all_entities else _join_names(words, "entity", run.plan.entities)
    all_phases = tuple(run.plan.phases) == PHASES
    return entities if all_phases else f"{entities}: {_join_names(words, 'phase', run.plan.phases)}"


def list_missing(words: Words, entities: Iterable[EntityFacts]) -> str:
    """Which steps are not done, by kind."""
    found = []
    for entity in entities:
        if entity.missing:
            steps = _join_names(words, "phase", (one.phase for one in entity.missing if one.phase != LATE))
            found.append(f"{words.named('entity', entity.name)} ({steps})")
    return ", ".join(found)


def list_losses(words: Words, streams: Sequence[StreamFacts]) -> list[tuple[str, int, str]]:
    """Each kind of loss: how often, and in which streams."""
    found = []
    for name in LOSSES:
        own = [(one.losses[name], words.named("stream", one.name)) for one in streams if one.losses.get(name)]
        if own:
            found.append((name, sum(count for count, _ in own), ", ".join(f"{whose} {count}" for count, whose in own)))
    return found


def _join_names(words: Words, kind: str, names: Iterable[str]) -> str:
    return ", ".join(words.named(kind, name) for name in names)


def _stream_names(words: Words, streams: Iterable[StreamFacts]) -> str:
    return _join_names(words, "stream", (one.name for one in streams))


# ---------------------------------------------------------------- numbers, durations, sizes and times in a language


class Formats:
    def __init__(self, words: Words, zone: ZoneInfo) -> None:
        self._words = words
        self._language = words.language
        self.zone = zone

    def number(self, value: float | None) -> str:
        """`12,345`; a dash for an unknown value."""
        return NONE if value is None else f"{round(value):,}".replace(",", BETWEEN[self._language])

    def signed(self, value: float | None) -> str:
        return f"+{self.number(value)}" if value and value > 0 else self.number(value)

    def decimal(self, value: float, digits: int) -> str:
        whole, _, part = f"{value:,.{digits}f}".partition(".")
        whole = whole.replace(",", BETWEEN[self._language])
        return f"{whole}{POINT[self._language]}{part}" if part else whole

    def error(self, value: float) -> str:
        """Of a forecast: `+12 %` means that it was too long."""
        sign = "+" if value > 0 else ""
        return sign + self._words("report.amount.percent", value=self.decimal(100 * value, 0))

    def duration(self, seconds: float | None) -> str:
        return NONE if seconds is None else duration(self._words, seconds)

    def size(self, value: float | None) -> str:
        if value is None:
            return NONE
        step = 0
        while value >= STEP and step < len(SIZES) - 1:
            value, step = value / STEP, step + 1
        return self._words(f"report.amount.{SIZES[step]}", value=self.decimal(value, 1 if step else 0))

    def utc(self, moment: str) -> str:
        return self._format(self._parse(moment), "UTC") if moment else NONE

    def local(self, moment: str) -> str:
        """In the zone of the source, by its name."""
        return self._format(self._parse(moment).astimezone(self.zone), self.zone.key) if moment else NONE

    def tick(self, moment: datetime, form: str) -> str:
        """On the axis of a chart, in the zone of the source."""
        return moment.astimezone(self.zone).strftime(form.format(day=DAYS[self._language]))

    def _parse(self, moment: str) -> datetime:
        return datetime.fromisoformat(moment).astimezone(UTC)

    def _format(self, at: datetime, zone: str) -> str:
        return f"{at.strftime(DATES[self._language])} {at:%H:%M:%S} {zone}"
