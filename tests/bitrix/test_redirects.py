"""Where a webhook's secret goes, and where files come from: to the portal, and to nobody else."""

from __future__ import annotations

import io
import json
import socket
from collections.abc import Callable
from typing import Any

import pytest
from tests.bitrix.raw_server import RawServer
from tests.bitrix.support import SECRET, Kit, Response, Scripted

from b24migrate.bitrix.client import Portal, Timeouts
from b24migrate.bitrix.download import Downloads
from b24migrate.bitrix.hosts import is_near, is_public, is_vendor_file_host, same_owner, split_address
from b24migrate.bitrix.source import BitrixSource
from b24migrate.bitrix.webhook import parse_webhook
from b24migrate.model.errors import GateUnmet, MigrationError, Permanent
from b24migrate.model.events import Noted, PortalMoved
from b24migrate.targets.rest.files import address

HOST = "portal.example.com"
Names = Callable[[dict[str, list[str]]], None]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """Names of the test's own; everything else is looked up as ever."""
    ask = socket.getaddrinfo

    def set_names(known: dict[str, list[str]]) -> None:
        def found(host: Any, port: Any, *args: Any, **more: Any) -> Any:
            if host in known:
                return [one for address in known[host] for one in ask(address, port, *args, **more)]
            return ask(host, port, *args, **more)

        monkeypatch.setattr(socket, "getaddrinfo", found)

    return set_names


def portal_at(url: str, **options: Any) -> tuple[Portal, list[Any]]:
    """One whose webhook may use http: the servers of these tests have no certificates for their names."""
    kit = Kit([f"http://127.0.0.1:1/rest/1/{SECRET}/"])
    heard: list[Any] = []
    webhook = parse_webhook(url, allow_http=True)
    portal = Portal(
        [webhook],
        governor=kit.governor,
        breaker=kit.breaker,
        clock=kit.clock,
        redactor=kit.redactor,
        timeouts=Timeouts(connect_s=2.0, read_s=3.0, probe_s=1.0),
        observers=(heard.append,),
        **options,
    )
    return portal, heard


def on(server: Scripted, host: str) -> str:
    return server.webhook.replace("127.0.0.1", host)


# ---------------------------------------------------------------- whose a host is


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (HOST, HOST, True),
        (HOST, "other.example.com", True),
        (HOST, "example.com", True),
        (HOST, "a.b.example.com", True),
        (HOST, "portal.example.com.evil.org", False),
        (HOST, "evil-example.com", False),
        ("firm.bitrix24.ru", "thief.bitrix24.ru", False),
        ("firm.bitrix24.com", "thief.bitrix24.com", False),
        ("firm.bitrix24.com.br", "thief.bitrix24.com.br", False),
        ("bitrix24.ru", "thief.bitrix24.ru", False),
        ("a.firm.co.uk", "b.firm.co.uk", True),
        ("firm.co.uk", "thief.co.uk", False),
        ("firm.github.io", "thief.github.io", False),
        ("box.westeurope.cloudapp.azure.com", "thief.westeurope.cloudapp.azure.com", False),
        ("box.blob.core.windows.net", "thief.blob.core.windows.net", False),
        ("box.keenetic.link", "thief.keenetic.link", False),
        ("10.0.0.1", "10.0.0.2", False),
        ("localhost", "127.0.0.1", False),
        ("box", "other", False),
    ],
)
def test_hosts_of_one_owner(one: str, other: str, same: bool) -> None:
    assert same_owner(one, other) is same


@pytest.mark.parametrize(
    ("origin", "location", "followed"),
    [
        ("https://portal.example.com", "https://new.example.com/rest/1/x/user.get", True),
        ("https://portal.example.com", "https://portal.example.com:8443/rest/1/x/user.get", True),
        ("https://portal.example.com", "/rest/1/x/user.get", True),
        ("http://127.0.0.1:80", "http://127.0.0.1:81/rest/1/x/user.get", True),
        ("http://portal.example.com", "https://portal.example.com/rest/1/x/user.get", True),
        ("https://portal.example.com", "http://portal.example.com/rest/1/x/user.get", False),
        ("https://portal.example.com", "https://thief.org/rest/1/x/user.get", False),
        ("https://firm.bitrix24.ru", "https://thief.bitrix24.ru/rest/1/x/user.get", False),
        ("https://portal.example.com", "//thief.org/rest/1/x/user.get", False),
        ("https://portal.example.com", "https://me@portal.example.com/rest/1/x/user.get", False),
        ("https://portal.example.com", "https://new.example.com/auth/", False),
        ("https://portal.example.com", "http://[::1", False),
        ("https://portal.example.com", "https://portal.example.com:99999/rest/1/x", False),
        ("https://portal.example.com", "ftp://portal.example.com/rest/1/x/user.get", False),
        ("https://portal.example.com", "https://listed.org/rest/1/x/user.get", True),
        ("https://portal.example.com", "https://a.below.org/rest/1/x/user.get", True),
        ("https://portal.example.com", "https://below.org.evil.com/rest/1/x/user.get", False),
    ],
)
def test_where_a_webhook_moves(origin: str, location: str, followed: bool) -> None:
    webhook = parse_webhook(f"{origin}/rest/1/{SECRET}/", allow_http=True)
    moved = webhook.moved(location, ("listed.org", ".below.org"))
    assert (moved is not None) is followed


# ---------------------------------------------------------------- calls


def test_a_redirect_within_the_own_domain_is_followed_and_told(names: Names) -> None:
    names({HOST: ["127.0.0.1"], "new.example.com": ["127.0.0.1"]})
    with Scripted() as new, Scripted() as old:
        there = on(new, "new.example.com")
        old.answers = [Response(b"", 302, headers=(("Location", there + "user.get"),))]
        portal, heard = portal_at(on(old, HOST))
        portal.call("user.get", {"ID": 1})
        portal.call("user.get", {"ID": 2})
        assert [len(one.heard) for one in (old, new)] == [1, 2]
        assert new.heard[0].body == b'{"ID":1}'
    assert [one for one in heard if isinstance(one, PortalMoved)] == [
        PortalMoved("source", on(old, HOST).split("/")[2], there.split("/")[2])
    ]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_to_somebody_else_is_refused_with_what_to_do(names: Names, status: int) -> None:
    names({"firm.bitrix24.ru": ["127.0.0.1"], "thief.bitrix24.ru": ["127.0.0.1"]})
    with Scripted() as thief, Scripted() as old:
        old.answers = [Response(b"", status, headers=(("Location", on(thief, "thief.bitrix24.ru") + "user.get"),))]
        portal, _ = portal_at(on(old, "firm.bitrix24.ru"))
        with pytest.raises(GateUnmet) as caught:
            portal.call("user.get", {})
        assert thief.heard == []
    assert caught.value.code == "PORTAL_MOVED"
    assert "thief.bitrix24.ru" in caught.value.message
    assert "source.redirect_hosts" in caught.value.hint
    assert SECRET not in str(caught.value)


def test_a_redirect_to_a_host_in_the_configuration_is_followed(names: Names) -> None:
    names({"firm.bitrix24.ru": ["127.0.0.1"], "renamed.bitrix24.ru": ["127.0.0.1"]})
    with Scripted() as new, Scripted() as old:
        old.answers = [Response(b"", 302, headers=(("Location", on(new, "renamed.bitrix24.ru") + "user.get"),))]
        portal, _ = portal_at(on(old, "firm.bitrix24.ru"), redirect_hosts=["renamed.bitrix24.ru"])
        portal.call("user.get", {})
        assert len(new.heard) == 1


# ---------------------------------------------------------------- files


def fetched(portal: Portal, url: str) -> bytes | MigrationError:
    out = io.BytesIO()
    try:
        BitrixSource(portal).download(url, out, limit=10**6)
    except MigrationError as error:
        return error
    return out.getvalue()


def refusal(portal: Portal, url: str) -> Permanent:
    error = fetched(portal, url)
    assert isinstance(error, Permanent)
    assert error.code == "FOREIGN_LINK"
    assert SECRET not in str(error)
    return error


@pytest.mark.parametrize(
    "link",
    [
        "https://thief.org/file.png",
        "https://thief.bitrix24.ru/file.png",
        "https://user:word@portal.example.com/file.png",
        "ftp://portal.example.com/file.png",
        "file:///etc/passwd",
        "http://[::1/x",
        "https://portal.example.com:99999/x",
        "https://10.0.0.1/file.png",
        "https://169.254.169.254/latest/meta-data/",
        "https://[::ffff:10.0.0.1]/x",
        "https://por\\tal.example.com/x",
    ],
)
def test_a_link_to_a_host_that_is_not_the_portals_fails_the_file_alone(names: Names, link: str) -> None:
    names({HOST: ["127.0.0.1"]})
    portal, _ = portal_at(f"https://{HOST}/rest/1/{SECRET}/")
    refusal(portal, link)


def test_addresses_of_private_networks_are_not_connected_to_whatever_their_name(names: Names) -> None:
    inside = {"files.example.com": ["127.0.0.1"], "both.example.com": ["93.184.216.34", "127.0.0.1"]}
    names({HOST: ["127.0.0.1"], **inside, "cdn-ru.bitrix24.ru": ["127.0.0.1"]})
    with RawServer(lambda _: []) as server:
        port = server.origin.rpartition(":")[2]
        portal, _ = portal_at(f"https://{HOST}/rest/1/{SECRET}/")
        portal.address = "93.184.216.34"
        for name in (*inside, "cdn-ru.bitrix24.ru"):
            refusal(portal, f"https://{name}:{port}/file.png")
    assert server.requests == []


def test_a_portal_that_is_private_itself_may_keep_its_files_beside_it() -> None:
    assert is_near("10.0.0.7", "10.0.0.5")
    assert is_near("127.0.0.1", "127.0.0.1")
    assert not is_near("127.0.0.1", "10.0.0.5")
    assert not is_near("169.254.169.254", "10.0.0.5")
    assert not is_near("fd00:ec2::254", "10.0.0.5")
    assert not is_near("::169.254.169.254", "10.0.0.5")
    assert not is_near("10.0.0.7", "93.184.216.34")
    assert not is_near("10.0.0.7", "")


@pytest.mark.parametrize(
    ("number", "public"),
    [
        ("93.184.216.34", True),
        ("2a00:1450:4001::1", True),
        ("10.0.0.1", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("100.64.0.1", False),
        ("127.0.0.1", False),
        ("169.254.169.254", False),
        ("224.0.0.1", False),
        ("0.0.0.0", False),  # noqa: S104
        ("::1", False),
        ("fe80::1%eth0", False),
        ("::ffff:192.168.1.1", False),
        ("64:ff9b::a00:1", False),
        ("2002:a00:1::", False),
        ("64:ff9b:1::a00:1", False),
        ("::10.0.0.1", False),
        ("::ffff:0:10.0.0.1", False),
        ("fec0::1", False),
        ("168.63.129.16", False),
        ("192.0.0.192", False),
        ("nonsense", False),
    ],
)
def test_public_addresses(number: str, public: bool) -> None:
    assert is_public(number) is public


def check_link(link: str, before: str | None = None, **options: Any) -> str:
    portal, _ = portal_at(f"https://{HOST}/rest/1/{SECRET}/", **options)
    parts, prior = split_address(link), split_address(before) if before else None
    assert parts is not None
    found = Downloads(portal)._refuse(parts, prior)
    return found.code if found else ""


def test_what_is_followed_and_what_is_not() -> None:
    own = f"https://{HOST}/disk/1"
    assert check_link(own) == ""
    assert check_link("https://cdn-ru.bitrix24.ru/b1/photo.png") == ""
    assert check_link("https://cdn.com.bitrix24.com/b1/photo.png") == ""
    assert check_link("https://cdn.bitrix24.evil.com/b1/photo.png") == "FOREIGN_LINK"
    assert check_link("https://files.partner.org/1") == "FOREIGN_LINK"
    assert check_link("https://files.partner.org/1", file_hosts=["files.partner.org"]) == ""
    assert check_link("https://storage.anywhere.net/1", own) == ""
    assert check_link(f"https://storage.anywhere.net/1?auth={SECRET}", own) == "FOREIGN_LINK"
    assert check_link("http://storage.anywhere.net/1", own) == "INSECURE_LINK"
    assert check_link(f"http://{HOST}/1", own) == "INSECURE_LINK"


def test_a_redirect_of_a_download_to_a_storage_is_told() -> None:
    portal, heard = portal_at(f"https://{HOST}/rest/1/{SECRET}/")
    there, here = split_address("https://storage.anywhere.net/1"), split_address(f"https://{HOST}/1")
    assert there is not None
    downloads = Downloads(portal)
    assert downloads._refuse(there, here) is None
    assert downloads._refuse(there, here) is None
    assert [one.message for one in heard if isinstance(one, Noted)] == [
        "The source redirects downloads to storage.anywhere.net. No secret is sent there."
    ]


def test_the_delivery_hosts_of_the_vendor() -> None:
    for name in ("cdn-com.bitrix24.com", "cdn-ru.bitrix24.ru", "cdn.com.bitrix24.com", "CDN.bitrix24.site."):
        assert is_vendor_file_host(name)
    for name in ("cdnfirm.bitrix24.com", "cdn-firm.bitrix24.ru", "cdn.bitrix24.evil", "cdn-ru.bitrix24.xyz"):
        assert not is_vendor_file_host(name)
    assert not is_vendor_file_host("firm.bitrix24.com")
    assert not is_vendor_file_host("cdn.example.com")


# ---------------------------------------------------------------- what is said about it


@pytest.mark.parametrize("escaped", [SECRET, "".join(f"&#{ord(one)};" for one in SECRET)])
def test_the_text_of_an_error_is_masked_before_it_is_cut(escaped: str) -> None:
    """Behind so many characters the secret is cut in the middle."""
    for before in range(286, 300):
        body = json.dumps({"error": "SOME_CODE", "error_description": "x" * before + " " + escaped}).encode()
        with Scripted(Response(body, 400)) as server:
            kit = Kit([server.webhook])
            with pytest.raises(MigrationError) as called:
                kit.portal.call("user.get", {})
            error = fetched(kit.portal, "/disk/file.bin")
        for text in (str(called.value), str(error)):
            assert SECRET[:4] not in text


# ---------------------------------------------------------------- uploads


@pytest.mark.parametrize(
    ("named", "used"),
    [
        (f"https://{HOST}/upload?token=1", f"https://{HOST}/upload?token=1"),
        (f"http://{HOST}/upload?token=1", f"https://{HOST}/upload?token=1"),
        (f"http://{HOST}:8080/upload", f"https://{HOST}/upload"),
        ("https://thief.org/upload", ""),
        ("http://[::1", ""),
        (f"https://me@{HOST}/upload", ""),
    ],
)
def test_the_address_of_an_upload_keeps_the_scheme_and_the_host_of_the_webhook(named: str, used: str) -> None:
    portal, _ = portal_at(f"https://{HOST}/rest/1/{SECRET}/")
    if used:
        assert address(portal, named) == used
        return
    with pytest.raises(Permanent) as caught:
        address(portal, named)
    assert caught.value.code == "FOREIGN_LINK"
