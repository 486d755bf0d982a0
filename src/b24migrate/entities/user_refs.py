"""How records refer to people."""

from __future__ import annotations

from b24migrate.model.fields import Field, Kind, Policy


def person(name: str, policy: Policy = Policy.DROP) -> Field:
    return Field(name, Kind.REF, to="users", policy=policy)
