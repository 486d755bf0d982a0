"""Checks what is said of a local application on the box: one sentence for each mistake, and never the secret itself."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from b24migrate.bitrix.webhook import is_loopback
from b24migrate.messages import say
from b24migrate.settings.complaints import complain
from b24migrate.settings.model import TOKEN_URL, ApplicationSettings, TargetSettings
from b24migrate.settings.places import KeyPath, Places

TABLE: KeyPath = ("target", "application")
CLIENT_ID = re.compile(r"[A-Za-z0-9._-]+")
SECRET = re.compile(r"[^\s/?&=#]+")  # what is an address, or a whole answer, is none
WANTED = {
    "client_secret": say("settings.no_client_secret"),
    "refresh_token": say("settings.no_refresh_token"),
    "access_token": say("settings.no_access_token"),
}


def check(target: TargetSettings, places: Places) -> None:
    """Raises BadConfiguration."""
    said = target.application
    if said is None:
        return
    if target.kind != "rest":
        raise complain(places, TABLE, say("settings.only_rest"))
    if not CLIENT_ID.fullmatch(said.client_id):
        like = "local.65f1c0de5a1e42.12345678"
        what = say("settings.no_client_id", like=like)
        raise complain(places, (*TABLE, "client_id"), what)
    for name, value in _secrets(said).items():
        if not SECRET.fullmatch(value):
            raise complain(places, (*TABLE, name), WANTED[name])
    if not _may_be_asked(said.token_url, allow_http=target.allow_http):
        raise complain(places, (*TABLE, "token_url"), say("settings.no_token_url", like=TOKEN_URL))


def _secrets(said: ApplicationSettings) -> dict[str, str]:
    access = {"access_token": said.access_token.reveal()} if said.access_token.reveal() else {}
    return {"client_secret": said.client_secret.reveal(), "refresh_token": said.refresh_token.reveal(), **access}


def _may_be_asked(url: str, *, allow_http: bool) -> bool:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    plain = parts.scheme == "http" and (allow_http or is_loopback(host))
    return bool(host) and not parts.query and (parts.scheme == "https" or plain)
