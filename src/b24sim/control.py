"""The control API under /_sim/: requests so far, true data, and changes."""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from b24sim.company.changes import change
from b24sim.dump import counts, dump
from b24sim.dump_native import native
from b24sim.errors import RestError
from b24sim.faults import Faults
from b24sim.http import JSON, Receive, Scope, Send, read_body, respond
from b24sim.portal import Portal

Query = dict[str, str]
Page = Callable[[Portal, Query, Any], Any]


async def control(portal: Portal, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer plain JSON; a complaint is a 400 with the known words."""
    body = await read_body(receive)
    name = str(scope["path"]).removeprefix("/_sim/").strip("/")
    query = {key: values[0] for key, values in parse_qs(scope["query_string"].decode("latin-1")).items()}
    page = PAGES.get((scope["method"], name))
    try:
        if not _is_local(scope):
            raise RestError("ACCESS_DENIED", "the control room is for this machine only", 403)
        if page is None:
            raise RestError("ERROR_NOT_FOUND", f"there are {', '.join(' '.join(key) for key in PAGES)}", 404)
        answer, status = page(portal, query, json.loads(body) if body else {}), 200
    except RestError as refusal:
        answer, status = refusal.body(), refusal.status
    except (ValueError, KeyError) as complaint:
        answer, status = {"error": "ERROR_ARGUMENT", "error_description": str(complaint)}, 400
    await respond(send, status, json.dumps(answer, ensure_ascii=False).encode("utf-8", "surrogatepass"), JSON)


def _is_local(scope: Scope) -> bool:
    client = scope.get("client")
    return client is None or client[0].startswith("127.") or client[0] == "::1"


def _stats(portal: Portal, _query: Query, _body: Any) -> Any:
    return portal.stats.summary()


def _reset(portal: Portal, _query: Query, _body: Any) -> Any:
    portal.stats.reset()
    return {"reset": True}


def _faults(portal: Portal, query: Query, body: Any) -> Any:
    script = body if isinstance(body, list) else [body] if body else []
    portal.faults = Faults(script, int(query.get("seed", portal.company.plan.seed)))
    return {"rules": len(portal.faults.rules)}


def _mutate(portal: Portal, _query: Query, body: Any) -> Any:
    """Single changes; or `{"days", "seed", "share", "without"}`, days of work in every stream."""
    if isinstance(body, dict) and "days" in body:
        known = {"days": int, "seed": int, "share": float, "without": list}
        asked = {name: kind(body[name]) for name, kind in known.items() if name in body}
        return portal.mutate(**({"seed": portal.company.plan.seed} | asked))
    wishes = body if isinstance(body, list) else [body]
    return {"ids": [number for wish in wishes for number in change(portal.company, portal.clock.now(), wish)]}


def _dump(portal: Portal, query: Query, _body: Any) -> Any:
    user = int(query["visible_to"]) if "visible_to" in query else None
    return {"stream": query["stream"], "records": dump(portal, query["stream"], user)}


def _company(portal: Portal, _query: Query, _body: Any) -> Any:
    return {
        "counts": counts(portal),
        "unimportable_users": sorted(portal.company.people.bad),
        "bots": portal.company.bots,
    }


def _clock(portal: Portal, _query: Query, body: Any) -> Any:
    portal.clock.advance(float(body.get("advance", 0)))
    return {"now": portal.clock.now()}


def _imports(portal: Portal, _query: Query, _body: Any) -> Any:
    return {
        "order_violations": portal.imports.order_violations,
        "digest_mismatches": portal.imports.digest_mismatches,
    }


def _edit(portal: Portal, _query: Query, body: Any) -> Any:
    """`{"stream", "id", "fields"}`: a user changes an imported record on the box."""
    portal.imports.edit(str(body["stream"]), str(body["id"]), dict(body["fields"]))
    return {"edited": body["id"]}


def _remove(portal: Portal, _query: Query, body: Any) -> Any:
    """`{"stream", "id"}`: a user deletes an imported record on the box."""
    portal.imports.remove(str(body["stream"]), str(body["id"]))
    return {"removed": body["id"]}


def _native(portal: Portal, query: Query, _body: Any) -> Any:
    return native(portal, query.get("kind", ""))


def _application(portal: Portal, _query: Query, body: Any) -> Any:
    """`{"expire": true}`: its token is no longer taken; `{"revoke": true}`: it cannot be renewed either;
    `{"install": true}`: a user installs it again. Its tokens are in the answer."""
    if portal.application is None:
        raise ValueError("this portal has no application; start it with --application")
    if body.get("expire"):
        portal.application.expire()
    if body.get("revoke"):
        portal.application.revoke()
    if body.get("install"):
        portal.application.issue(portal.clock.now())
    return portal.application.to_json()


PAGES: dict[tuple[str, str], Page] = {
    ("GET", "stats"): _stats,
    ("POST", "reset"): _reset,
    ("POST", "faults"): _faults,
    ("POST", "mutate"): _mutate,
    ("GET", "dump"): _dump,
    ("GET", "company"): _company,
    ("GET", "clock"): _clock,
    ("POST", "clock"): _clock,
    ("GET", "imports"): _imports,
    ("POST", "edit"): _edit,
    ("POST", "remove"): _remove,
    ("GET", "native"): _native,
    ("GET", "application"): _application,
    ("POST", "application"): _application,
}
