"""What the tests of attacks share."""

from __future__ import annotations

from tests.web.dashboard import TOKEN, Desk

ACTIONS = ("run", "pause", "resume", "retry", "analysis", "fidelity", "login", "logout")
DECISIONS = ("conflicts", "conflicts/csv", "sync", "cutover", "cutover/undo")
CHANGES = ACTIONS + DECISIONS


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def signed_in(desk: Desk) -> dict[str, str]:
    reply = desk.post("login", {"token": TOKEN})
    return {"Cookie": reply.headers["set-cookie"].partition(";")[0]}
