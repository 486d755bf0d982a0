"""Misfortune by script: rules that pick calls, by count or by seeded chance, and what befalls them."""

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

KINDS = {
    "500", "502html", "403html", "html200", "reset", "timeout", "truncated", "lost",
    "query_limit", "operating_limit", "lapsed",
    "insert", "slow",
    "item", "error",
}  # fmt: skip
# Kinds that make sense for a single command inside a batch; the others befall whole HTTP requests.
INNER_KINDS = {"500", "operating_limit", "insert", "slow", "error"}


class FaultScriptError(ValueError):
    """The script cannot be read; the message names the rule and the word."""


@dataclass(slots=True)
class Rule:
    """Fires on calls of methods that match `method`: always, at the given ones, at every n-th, from the one after so
    many on, or by chance. With `user` only on calls of that user's webhook."""

    method: str
    kind: str
    every: int = 0
    at: tuple[int, ...] = ()
    after: int = 0
    user: int = 0
    probability: float = 0.0
    always: bool = False
    count: int | None = None
    seconds: float = 30.0
    code: str = "INTERNAL_SERVER_ERROR"
    status: int = 400
    retry_after: float = 0.0
    rows: int = 1
    bytes: int = 0  # of a download that is truncated, so many come; 0 = half of them
    inner: bool = True
    item: dict[str, Any] = field(default_factory=dict)
    seen: int = 0
    fired: int = 0

    def fires(self, chance: random.Random) -> bool:
        """Count one matching call (from 1), and say whether misfortune strikes it."""
        self.seen += 1
        if self.count is not None and self.fired >= self.count:
            return False
        struck = (
            self.always
            or self.seen in self.at
            or (self.after > 0 and self.seen > self.after)
            or (self.every > 0 and self.seen % self.every == 0)
            or (self.probability > 0 and chance.random() < self.probability)
        )
        self.fired += struck
        return struck


class Faults:
    def __init__(self, script: Iterable[dict[str, Any]] = (), seed: int = 1):
        self._chance = random.Random(seed)
        self.rules = [_rule(place, entry) for place, entry in enumerate(script)]

    def strike(self, method: str, *, inner: bool = False, user: int = 0) -> list[Rule]:
        """The rules that fire for one call, in the order of the script."""
        return [
            rule
            for rule in self.rules
            if rule.kind != "item"
            and (not inner or (rule.inner and rule.kind in INNER_KINDS))
            and fnmatchcase(method, rule.method)
            and rule.user in (0, user)
            and rule.fires(self._chance)
        ]

    def item_error(self, method: str, key: str) -> dict[str, Any] | None:
        """The error that an import item gets instead of being imported."""
        for rule in self.rules:
            if (
                rule.kind != "item"
                or not fnmatchcase(method, rule.method)
                or not fnmatchcase(key, rule.item.get("key", "*"))
            ):
                continue
            if rule.fires(self._chance):
                return {"code": str(rule.item.get("code", "INTERNAL")), "retry": bool(rule.item.get("retry", False))}
        return None


def _rule(place: int, entry: dict[str, Any]) -> Rule:
    known = set(Rule.__dataclass_fields__) - {"seen", "fired"}
    unknown = set(entry) - known
    if unknown:
        raise FaultScriptError(
            f"rule {place}: unknown {', '.join(sorted(unknown))}; known are {', '.join(sorted(known))}"
        )
    kind = str(entry.get("kind", "item" if "item" in entry else ""))
    if kind not in KINDS:
        raise FaultScriptError(f"rule {place}: kind {kind!r} is none of {', '.join(sorted(KINDS))}")
    rule = Rule(**({"method": "*"} | entry | {"kind": kind, "at": tuple(entry.get("at", ()))}))
    if not (rule.every or rule.at or rule.after or rule.probability or rule.always):
        rule.always = True
    return rule
