"""Where a portal is, and the secret that nobody sees."""

from __future__ import annotations

import logging

import pytest

from b24migrate.bitrix.secrets import Redactor
from b24migrate.bitrix.webhook import parse_webhook
from b24migrate.model.errors import BadConfiguration

URL = "https://portal.example/rest/17/abcd1234efgh5678/"
SECRET = "abcd1234efgh5678"


@pytest.mark.parametrize(
    "url",
    [
        URL,
        URL.rstrip("/"),
        URL + "profile.json",
        "https://portal.example/webhook/17/abcd1234efgh5678",
        "https://portal.example:8443/sub/rest/17/abcd1234efgh5678/",
        "http://127.0.0.1:9000/rest/17/abcd1234efgh5678/",
        "http://localhost/rest/17/abcd1234efgh5678/",
    ],
)
def test_an_address_as_people_copy_it_is_understood(url: str) -> None:
    webhook = parse_webhook(f" {url} ")
    assert (webhook.user, webhook.secret) == (17, SECRET)
    assert webhook.url("user.get").endswith("/17/abcd1234efgh5678/user.get")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "portal.example/rest/1/abcd1234efgh5678",
        "https://portal.example/",
        "https://portal.example/rest/abcd1234efgh5678/",
        "https://portal.example/rest/1/",
        "https://portal.example/rest/x/abcd1234efgh5678/",
        "https://user:abcd1234efgh5678@portal.example/rest/1/abcd1234efgh5678/",
        "http://portal.example/rest/1/abcd1234efgh5678/",
        "ftp://portal.example/rest/1/abcd1234efgh5678/",
        "https://portal.example:port/rest/1/abcd1234efgh5678/",
    ],
)
def test_a_bad_address_is_refused_with_a_fix_and_without_repeating_it(url: str) -> None:
    with pytest.raises(BadConfiguration) as caught:
        parse_webhook(url, key="source.webhook")
    assert "source.webhook" in str(caught.value)
    assert caught.value.hint
    assert SECRET not in str(caught.value)


def test_http_is_taken_where_it_was_allowed() -> None:
    assert parse_webhook("http://box.example/rest/1/secret12/", allow_http=True).origin == "http://box.example"


def test_nothing_printable_shows_the_secret() -> None:
    webhook = parse_webhook(URL)
    for text in (repr(webhook), str(webhook), f"{webhook}", repr([webhook])):
        assert SECRET not in text
        assert webhook.tag in text


def test_a_secret_in_a_text_becomes_its_tag_and_in_a_body_a_marker_that_can_be_undone() -> None:
    webhook = parse_webhook(URL)
    redactor = Redactor([webhook])
    assert redactor.redact(f"POST {URL} failed") == f"POST https://portal.example/rest/17/{webhook.tag}/ failed"
    body = b'{"u":"https:\\/\\/p\\/rest\\/17\\/abcd1234efgh5678\\/download","v":"auth[ap]=abcd1234efgh5678&x"}'
    masked = redactor.mask(body)
    assert SECRET.encode() not in masked
    assert redactor.unmask(masked.decode()) == body.decode()


def test_a_short_secret_is_masked_only_where_an_address_has_it() -> None:
    redactor = Redactor([parse_webhook("https://p.example/rest/1/ann/")])
    masked = redactor.mask(b'{"NAME":"ann","u":"https:\\/\\/p\\/rest\\/1\\/ann\\/x?a=ann&b","t":"annual"}')
    assert b'"NAME":"ann"' in masked
    assert b'"t":"annual"' in masked
    assert b"\\/ann" not in masked
    assert b"=ann" not in masked
    assert "/ann/" not in redactor.redact("POST /rest/1/ann/user.get")


def test_what_the_http_library_logs_is_redacted(caplog: pytest.LogCaptureFixture) -> None:
    Redactor([parse_webhook(URL)]).guard("test.http")
    with caplog.at_level(logging.DEBUG):
        logging.getLogger("test.http").debug('%s "POST %s"', "host", URL)
    assert SECRET not in caplog.text


@pytest.mark.parametrize(
    "shown",
    [
        SECRET.upper(),
        SECRET.title(),
        "".join(f"%{ord(one):02X}" for one in SECRET),
        "".join(f"%25{ord(one):02x}" for one in SECRET),
        SECRET.replace("a", "%61").replace("8", "%2538"),
        f"%2Frest%2F1%2F{SECRET}%2F",
    ],
)
def test_a_secret_that_a_portal_writes_otherwise_is_found(shown: str) -> None:
    redactor = Redactor([parse_webhook(URL)])
    tag = parse_webhook(URL).tag
    assert redactor.redact(f"100% bad: {shown} and more") == f"100% bad: {shown.replace(SECRET, tag)} and more".replace(
        shown, tag
    )
    assert redactor.redact("100% %61bc") == "100% %61bc"
