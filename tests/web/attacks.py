"""What the tests of attacks share."""

from __future__ import annotations

from tests.web.dashboard import TOKEN, Desk

CHANGES = ("run", "pause", "resume", "retry", "analysis", "fidelity", "login", "logout")


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def signed_in(desk: Desk) -> dict[str, str]:
    reply = desk.post("login", {"token": TOKEN})
    return {"Cookie": reply.headers["set-cookie"].partition(";")[0]}
