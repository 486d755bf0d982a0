"""Shared by the tests of refusals."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.engine.every_stream import CATALOG, look
from tests.engine.world import World

from b24sim.company.crm_ids import DEAL
from b24sim.errors import RestError

DENIED: dict[str, Any] = {"kind": "error", "code": "ACCESS_DENIED", "status": 403}
CLOSED = RestError("ACCESS_DENIED", "Access denied", 403)
BROKEN = RestError("INTERNAL_SERVER_ERROR", "Internal server error", 500)
PRODUCTS = "crm.item.productrow.list"
SOLD = ("users", "crm_structure", "crm_companies", "crm_contacts", "crm_deals")


def complete(made: World) -> None:
    """The same command, when all is well again: everything is there, once, and verified."""
    made.strike_cloud()
    made.strike_box()
    ended = made.run()
    assert ended.exit_code == 0, ended.message
    now = look(made)
    assert now.findings == [] == now.letters
    entities = made.settings["run"].get("entities") or [one.name for one in CATALOG.entities]
    chosen = [one for one in CATALOG.entities if one.name in entities]
    assert all(now.verified[one.name] for one in chosen)
    for stream in (stream for entity in chosen for stream in entity.streams):
        assert {row["Status"] for row in now.staged[stream.name].values()} <= {"IMPORT_OK"}
        assert {made for made, _ in now.effects(stream.name).values()} <= {1}
    # recordings that are with the operator of the telephony cannot be had
    files = made.sql("SELECT RowKey, Status, Attempts FROM Files WHERE RowKey NOT LIKE 'call:%'")
    assert {(status, attempts) for _, status, attempts in files} <= {("IMPORT_OK", 1)}


def sold(made: World) -> dict[str, int]:
    """How many product rows each deal has on the box."""
    return {
        key.rpartition(":")[2]: len(row["fields"].get("productRows", ()))
        for key, row in made.imported("crm_deals").items()
    }


def sells(made: World) -> dict[str, int]:
    crm = made.cloud.portal.company.crm
    return {str(number): len(crm.product_rows(DEAL, number)) for number in crm.deal_ids}


def refuse(made: World, name: str, chosen: Callable[[str], bool], error: RestError) -> Callable[[], None]:
    methods = made.cloud.portal.methods._methods
    method = made.cloud.portal.method(name)

    def closed(context: Any, params: Any) -> Any:
        if chosen(str(params)):
            raise RestError(error.code, error.description, error.status)
        return method.call(context, params)

    methods[method.name] = type(method)(method.name, method.scopes, closed, method.upper)
    return lambda: methods.update({method.name: method})


def holds(asked: str, number: int) -> bool:
    """Whether a question is for a stretch with this id in it."""
    first, last = (int(re.findall(rf"'{sign}ID': '?(\d+)", asked)[0]) for sign in (">=", "<="))
    return first <= number <= last
