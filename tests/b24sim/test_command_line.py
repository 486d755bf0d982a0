"""The command line and the ready line."""

import http.client
import json
import ssl
import subprocess
import sys
from urllib.parse import urlsplit

import pytest
from tests.b24sim.client import send

from b24sim import launch
from b24sim.__main__ import main
from b24sim.options import parser
from b24sim.portal_setup import portal_from


def test_the_help_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["--help"])
    text = capsys.readouterr().out
    for option in ("--role", "--records", "--speed", "--cost", "--faults", "--webhooks", "--listing-chats", "--tls"):
        assert option in text


def test_options_make_the_portal_they_describe() -> None:
    options = parser().parse_args(
        [
            "--records",
            "500",
            "--users",
            "40",
            "--webhooks",
            "1,5",
            "--cost",
            "user.get=0.3",
            "--cost",
            "im.recent.list=1",
            "--requests-per-second",
            "5",
            "--bucket",
            "250",
            "--operating",
            "100",
            "--scopes",
            "user,im",
            "--scopes-of",
            "5=user",
            "--timezone",
            "Asia/Tokyo",
            "--bad-users",
            "2",
            "--secret",
            "s3",
            "--speed",
            "10",
        ]
    )
    portal = portal_from(options)
    assert len(portal.company.users) == 40
    assert portal.webhooks == {1: "s3", 5: "s3"}
    assert (portal.costs.seconds_of("user.get"), portal.costs.seconds_of("im.recent.list")) == (0.3, 1)
    assert portal.bucket is not None
    assert (portal.bucket.per_second, portal.bucket.size) == (5, 250)
    assert portal.operating is not None
    assert (portal.operating.limit_s, portal.operating.on_batch) == (100, True)
    assert portal.scopes == ("user", "im")
    assert (portal.caller(1).scopes, portal.caller(5).scopes) == (("user", "im"), ("user",))
    assert len(portal.company.people.bad) == 2
    assert portal.company.moments.name == "Asia/Tokyo"


def test_a_box_has_no_limits_unless_told() -> None:
    assert portal_from(parser().parse_args(["--role", "box"])).operating is None
    limited = portal_from(parser().parse_args(["--role", "box", "--limits", "on"]))
    assert limited.operating is not None
    assert limited.operating.limit_s == 420


def test_an_older_portal_bills_the_methods_inside_a_batch() -> None:
    older = portal_from(parser().parse_args(["--billing", "inner"]))
    assert older.operating is not None
    assert not older.operating.on_batch


@pytest.mark.parametrize(
    "wrong",
    [["--webhooks", "a"], ["--cost", "user.get=x"], ["--faults", "no/such/file"], ["--faults", '[{"kind": "x"}]']],
)
def test_wrong_values_are_explained(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(wrong) == 2
    assert capsys.readouterr().err.startswith("b24sim: ")


def test_a_process_says_where_it_is_and_leaves_when_told() -> None:
    with launch("--users", "12", "--webhooks", "1,5", "--moved") as ready:
        assert set(ready) == {"url", "webhooks", "control", "moved"}
        assert [(hook["user"], hook["admin"]) for hook in ready["webhooks"]] == [(1, True), (5, False)]
        assert len(send(ready["webhooks"][0]["url"] + "user.get?ADMIN_MODE=1").json["result"]) == 12
        assert send(ready["control"] + "stats").json["http_requests"] == 1


def test_a_process_ends_cleanly_on_sigterm() -> None:
    with subprocess.Popen([sys.executable, "-m", "b24sim"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["url"].startswith("http://127.0.0.1:")
        process.terminate()
        assert process.wait(120) == 0


def test_tls_with_a_certificate_of_its_own() -> None:
    with launch("--tls") as ready:
        address = urlsplit(ready["webhooks"][0]["url"])
        context = ssl.create_default_context(cafile=ready["ca"])
        connection = http.client.HTTPSConnection(address.netloc, context=context, timeout=120)
        connection.request("GET", f"{address.path}server.time")
        assert json.load(connection.getresponse())["result"]
        connection.close()
