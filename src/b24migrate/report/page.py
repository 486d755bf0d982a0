"""The page: what stands in it, in the language of who reads it. The template only lays it out."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from b24migrate import __version__
from b24migrate.insight.report import Facts, Standing, Tally
from b24migrate.insight.report.model import FileFacts
from b24migrate.insight.report.tally import FIRST
from b24migrate.messages import Words
from b24migrate.report import charts
from b24migrate.report.names import helpers
from b24migrate.report.numbers import Amounts
from b24migrate.report.tables import TABLES
from b24migrate.report.texts import Texts, is_unbroken

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATE = "report.html"


@dataclass(frozen=True, slots=True)
class Page:
    facts: Facts
    files: FileFacts
    tallies: Mapping[str, Tally]
    settings: Sequence[tuple[str, str]]
    people: str  # the stream whose records are persons
    sample: int  # so many records of each kind are verified

    def html(self, words: Words, amounts: Amounts, texts: Texts) -> str:
        style = (files(__package__) / "templates" / "style.css").read_text("utf-8")
        facts = self.facts
        return (
            environment(words, amounts, texts)
            .get_template(TEMPLATE)
            .render(
                version=__version__,
                style=style,
                style_hash=b64encode(hashlib.sha256(style.encode()).digest()).decode(),
                facts=facts,
                files=self.files,
                tallies=self.tallies,
                tables=TABLES,
                settings=dict(self.settings),
                verdict=sentence(facts, words, amounts),
                most=FIRST,
                bars=charts.bars(facts.concerned),
                timeline=charts.timeline(facts.concerned, facts.at),
                speeds=charts.speeds(facts.history),
                chart=charts,
                people=self.people,
                sample=self.sample,
            )
        )


def sentence(facts: Facts, words: Words, amounts: Amounts) -> str:
    """The verdict."""
    limit = amounts.number(facts.run.plan.test_limit) if facts.run and facts.standing is Standing.TRY_OUT else ""
    return words(f"report.verdict.{facts.standing}", limit=limit)


def environment(words: Words, amounts: Amounts, texts: Texts) -> Environment:
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
        "shown": texts.shown,
    }
    made.tests["unbroken"] = is_unbroken
    made.globals |= {
        **helpers(words),
        "tick": amounts.tick,
        "zone": amounts.zone.key,
    }
    return made
