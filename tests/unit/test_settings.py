"""Settings: defaults, where values come from, and one clear sentence for every mistake."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from b24migrate.config import Secret, Settings, load
from b24migrate.model.errors import BadConfiguration

SECRET = "s3cr3tabc123xyz9"
GOOD = f"""
[source]
webhook = "https://cloud.example/rest/1/{SECRET}/"
[target]
webhook = "https://box.example/rest/1/otherS3cret/"
"""


def written(folder: Path, text: str = GOOD) -> Path:
    path = folder / "b24migrate.toml"
    path.write_text(text, "utf-8")
    return path


def loaded(folder: Path, text: str = GOOD, **environ: str) -> Settings:
    return load(written(folder, text), environ=environ)


def complaint(folder: Path, text: str, **environ: str) -> str:
    with pytest.raises(BadConfiguration) as caught:
        loaded(folder, text, **environ)
    message = str(caught.value)
    assert caught.value.exit_code == 2
    assert SECRET not in message
    assert not any(word in message.lower() for word in ("pydantic", "validation", "input should", "traceback", "type="))
    return message


def test_the_documented_defaults_hold(tmp_path: Path) -> None:
    settings = loaded(tmp_path)
    assert settings.source.timezone == "Europe/Moscow"
    assert (settings.source.requests_per_second, settings.source.bucket, settings.source.operating_seconds) == (
        2,
        50,
        480,
    )
    assert settings.target.kind == "import"
    assert settings.target.origin == "https://box.example"
    assert settings.store.url == f"sqlite:///{tmp_path / 'b24migrate.db'}"
    assert (settings.run.workers, settings.run.verify_sample, settings.run.test_limit) == (4, 10, 0)
    assert (settings.run.user_coverage, settings.run.outage_minutes, settings.run.entities) == (0.98, 30, ())
    assert (settings.mapping.placeholder_user, settings.mapping.existing_users) == ("", "link")
    assert all(settings.enabled(name) for name in ("users", "groups", "chats"))


def test_paths_are_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "cloud").write_text(f"https://cloud.example/rest/7/{SECRET}/\n")
    path = written(tmp_path, GOOD.replace(f"https://cloud.example/rest/1/{SECRET}/", "file:keys/cloud"))
    monkeypatch.chdir("/")
    assert load(path, environ={}).source.webhooks[0].user == 7


def test_the_environment_wins_over_the_file_and_options_over_both(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD + "[run]\nworkers = 2\ntest_limit = 1\n")
    environ = {"B24MIGRATE_RUN__WORKERS": "8", "B24MIGRATE_RUN__TEST_LIMIT": "3"}
    settings = load(path, environ=environ, run={"test_limit": 5})
    assert (settings.run.workers, settings.run.test_limit) == (8, 5)


def test_everything_can_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    environ = {
        "B24MIGRATE_SOURCE__WEBHOOK": "env:HOOK",
        "HOOK": f"https://cloud.example/rest/1/{SECRET}/",
        "B24MIGRATE_SOURCE__MORE_WEBHOOKS": "https://cloud.example/rest/2/aaa/, https://cloud.example/rest/3/bbb/",
        "B24MIGRATE_TARGET__WEBHOOK": "https://box.example/webhook/1/other/",
        "B24MIGRATE_ENTITIES__CHATS__BATCH_MESSAGES": "7",
        "B24MIGRATE_MAPPING__POLICY": '{"groups.OWNER_ID": "drop"}',
        "B24MIGRATE_RUN__ENTITIES": "users,groups",
    }
    settings = load(None, environ=environ)
    assert [hook.user for hook in settings.source.webhooks] == [1, 2, 3]
    assert settings.entities["chats"].batches == {"batch_messages": 7}
    assert settings.mapping.policy == {"groups.OWNER_ID": "drop"}
    assert [settings.enabled(name) for name in ("users", "groups", "chats")] == [True, True, False]


def test_secrets_inside_lists_are_resolved(tmp_path: Path) -> None:
    text = GOOD.replace("[target]", 'more_webhooks = ["env:SECOND"]\n[target]')
    settings = loaded(tmp_path, text, SECOND="https://cloud.example/rest/5/second/")
    assert settings.source.webhooks[1].user == 5


def test_nothing_that_prints_settings_shows_a_secret(tmp_path: Path) -> None:
    settings = loaded(tmp_path)
    for text in (
        repr(settings),
        str(settings),
        repr(settings.source),
        f"{settings.source.webhook}",
        repr(settings.model_dump()),
    ):
        assert SECRET not in text
        assert "otherS3cret" not in text
    assert SECRET not in settings.redactor.redact(f"calling https://cloud.example/rest/1/{SECRET}/user.get")
    with pytest.raises(TypeError):
        pickle.dumps(Secret(SECRET))


def test_entities_can_be_switched_off_and_given_batch_sizes(tmp_path: Path) -> None:
    from b24migrate.entities import catalog

    streams = catalog().streams
    settings = loaded(tmp_path, GOOD + "[entities.chats]\nenabled = false\nbatch = 5\nbatch_messages = 60\n")
    assert not settings.enabled("chats")
    assert settings.batch_size("chats", streams["chats"]) == 5
    assert settings.batch_size("chats", streams["chat_messages"]) == 60
    assert settings.batch_size("groups", streams["groups"]) == 20


def test_entity_names_are_taken_with_dashes(tmp_path: Path) -> None:
    settings = loaded(tmp_path, GOOD + '[run]\nentities = ["users"]\n[entities.users]\nbatch = 3\n')
    assert settings.run.entities == ("users",)


def test_policies_may_stand_without_quotes(tmp_path: Path) -> None:
    settings = loaded(tmp_path, GOOD + '[mapping.policy]\ngroups.OWNER_ID = "placeholder"\n')
    assert settings.mapping.policy == {"groups.OWNER_ID": "placeholder"}


def test_a_file_saved_by_notepad_is_read(tmp_path: Path) -> None:
    path = tmp_path / "b24migrate.toml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert load(path, environ={}).run.workers == 4


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (GOOD + "[run]\nworker = 3\n", ["b24migrate.toml, line 7", "run.worker", '"workers"']),
        (GOOD + "[sourse]\nx = 1\n", ["line 6", "sourse", '"source"']),
        (GOOD + "[run]\nworkers = 0\n", ["line 7", "run.workers", "1 or more"]),
        (GOOD + "[run]\nworkers = true\n", ["line 7", "run.workers", "a number"]),
        (GOOD + '[run]\nworkers = "many"\n', ["line 7", "run.workers", "whole number"]),
        (GOOD + "[run]\ntest_limit = -1\n", ["run.test_limit", "0 or more"]),
        (GOOD + "[run]\nuser_coverage = 98\n", ["run.user_coverage", "1 or less"]),
        (GOOD + "[run]\noutage_minutes = nan\n", ["run.outage_minutes", "0 or more"]),
        (GOOD + '[run]\nentities = ["grups"]\n', ["run.entities", '"groups"']),
        (GOOD + "[run]\nentities = 3\n", ["run.entities", "list"]),
        (GOOD + "[entities.chat]\nbatch = 3\n", ["line 6", "entities.chat", '"chats"']),
        (GOOD + "[entities.chats]\nbatch_message = 3\n", ["line 7", "entities.chats.batch_message", '"batch_messages"']),
        (GOOD + "[entities.chats]\nbatch = 0\n", ["line 7", "entities.chats.batch", "1 or more"]),
        (GOOD + "[entities]\nchats = 3\n", ["line 7", "entities.chats", "table"]),
        (GOOD + '[mapping]\nexisting_users = "merge"\n', ["mapping.existing_users", '"link" or "error"']),
        (GOOD + '[mapping]\nplaceholder_user = "ivan"\n', ["mapping.placeholder_user", "user ID"]),
        (GOOD + '[mapping.policy]\n"groups.OWNER_ID" = "keep"\n', ["line 7", "groups.OWNER_ID", '"require"']),
        (GOOD + '[mapping.policy]\n"groups.OWNER" = "drop"\n', ["line 7", "groups.OWNER", '"OWNER_ID"']),
        (GOOD + '[mapping.policy]\n"group.OWNER_ID" = "drop"\n', ["line 7", '"groups"']),
        (GOOD + '[mapping.policy]\n"group_members.GROUP_ID" = "placeholder"\n', ["line 7", "only for users"]),
        (GOOD.replace("[target]", 'timezone = "Europe/Moskow"\n[target]'), ["line 4", "source.timezone", '"Europe/Moscow"']),
        (GOOD.replace("[target]", 'timezone = "../../etc/passwd"\n[target]'), ["line 4", "source.timezone", "time zone"]),
        (GOOD.replace("https://cloud", "http://cloud"), ["line 3", "source.webhook", "allow_http"]),
        (GOOD.replace("https://cloud.example/rest/1/", "https://cloud.example/rest/"), ["line 3", "source.webhook", "/rest/"]),
        (GOOD.replace("https://cloud.example/rest/1/", "cloud.example:"), ["line 3", "source.webhook", "address"]),
        (GOOD.replace("https://cloud.example/rest/1/" + SECRET + "/", "env:NOWHERE"), ["line 3", "source.webhook", "NOWHERE", "not set"]),
        (GOOD.replace("https://cloud.example/rest/1/" + SECRET + "/", "file:nowhere"), ["source.webhook", "nowhere", "not there"]),
        (GOOD.replace("https://cloud.example/rest/1/" + SECRET + "/", "keyvault:b24"), ["source.webhook", "B24MIGRATE_KEY_VAULT"]),
        (GOOD.replace('"https://cloud.example/rest/1/' + SECRET + '/"', "5"), ["line 3", "source.webhook"]),
        (GOOD.replace("[target]", 'more_webhooks = ["https://elsewhere.example/rest/1/x/"]\n[target]'), ["line 4", "more_webhooks", "another portal"]),
        (GOOD.replace("https://box.example/rest/1/otherS3cret/", f"https://cloud.example/rest/1/{SECRET}/"), ["target.webhook", "source"]),
        (GOOD.replace("[target]", '[target]\nkind = "native"'), ["target.kind", '"import" or "rest"']),
        (GOOD.replace("[target]", '[target]\nportal_url = "box"'), ["target.portal_url", "https://"]),
        (GOOD + '[store]\nurl = "postgres://x"\n', ["line 7", "store.url", "sqlite:///"]),
        ("[source]\n" + GOOD, ["b24migrate.toml", "not valid TOML", "line"]),
        ("[source\n", ["b24migrate.toml", "not valid TOML", "line 1"]),
        ("[source]\n[target]\n", ["source.webhook", "required"]),
        ("source = 1\n", ["source", "table"]),
        ("", ["source", "required"]),
    ],
)  # fmt: skip
def test_a_mistake_is_one_sentence_with_key_place_and_fix(tmp_path: Path, text: str, wanted: list[str]) -> None:
    message = complaint(tmp_path, text)
    for word in wanted:
        assert word in message
    assert "\n" not in message


def test_mistakes_in_the_environment_name_the_variable(tmp_path: Path) -> None:
    assert "B24MIGRATE_RUN__WORKERS" in complaint(tmp_path, GOOD, B24MIGRATE_RUN__WORKERS="x")
    assert '"workers"' in complaint(tmp_path, GOOD, B24MIGRATE_RUN__WORKER="3")
    assert "B24MIGRATE_SOURCE__WEBHOOK" in complaint(tmp_path, GOOD, B24MIGRATE_SOURCE_WEBHOOK=SECRET)


def test_a_variable_that_the_file_refers_to_may_have_any_name(tmp_path: Path) -> None:
    text = GOOD.replace(f"https://cloud.example/rest/1/{SECRET}/", "env:B24MIGRATE_SOURCE_WEBHOOK")
    settings = loaded(tmp_path, text, B24MIGRATE_SOURCE_WEBHOOK=f"https://cloud.example/rest/1/{SECRET}/")
    assert settings.source.webhooks[0].user == 1


def test_http_is_allowed_on_loopback_and_where_the_file_says_so(tmp_path: Path) -> None:
    for address in ("127.0.0.1:8000", "localhost:8000"):
        assert loaded(tmp_path, GOOD.replace("https://cloud.example", f"http://{address}")).source.webhooks
    text = GOOD.replace("https://cloud", "http://cloud").replace("[target]", "allow_http = true\n[target]")
    assert loaded(tmp_path, text).source.webhooks[0].origin == "http://cloud.example"


def test_a_look_at_the_store_needs_no_secret(tmp_path: Path) -> None:
    text = """
[source]
webhook = "env:NOWHERE"
more_webhooks = ["env:NOWHERE_EITHER"]
[target]
webhook = "file:nowhere"
"""
    settings = load(written(tmp_path, text), environ={}, portals=False)
    assert settings.store.url.endswith("b24migrate.db")
    assert "line 3" in complaint(tmp_path, text)


def test_without_a_file_the_way_to_one_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadConfiguration, match="b24migrate init"):
        load(None, environ={})
    with pytest.raises(BadConfiguration, match=r"other\.toml"):
        load(tmp_path / "other.toml", environ={})
    with pytest.raises(BadConfiguration, match="cannot be read"):
        load(tmp_path, environ={})


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b24migrate.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadConfiguration, match="UTF-8"):
        load(path, environ={})


# ---------------------------------------------------------------- an application of the box

APPLICATION = """
[target.application]
client_id = "local.65f1c0de5a1e42.12345678"
client_secret = "env:APP_SECRET"
refresh_token = "file:refresh.txt"
"""
REST = GOOD.replace("[target]\n", '[target]\nkind = "rest"\n') + APPLICATION


def with_application(folder: Path, text: str = REST, **environ: str) -> Settings:
    (folder / "refresh.txt").write_text("refreshTOKEN0987654321\n")
    return loaded(folder, text, APP_SECRET="appSECRET0123456789", **environ)


def test_an_application_of_the_box_takes_its_secrets_from_variables_and_files(tmp_path: Path) -> None:
    environ = {"B24MIGRATE_TARGET__APPLICATION__ACCESS_TOKEN": "accessTOKEN5555"}
    application = with_application(tmp_path, **environ).target.application
    assert application is not None
    assert application.secrets == ("appSECRET0123456789", "refreshTOKEN0987654321", "accessTOKEN5555")
    assert application.token_url == "https://oauth.bitrix.info/oauth/token/"


def test_no_secret_of_an_application_is_ever_printed(tmp_path: Path) -> None:
    settings = with_application(tmp_path)
    assert settings.target.application is not None
    shown = f"{settings!r} {settings} {settings.model_dump()}"
    assert not [one for one in settings.target.application.secrets if one in shown]
    message = settings.redactor.redact("refused appSECRET0123456789 and refreshTOKEN0987654321")
    assert not [one for one in settings.target.application.secrets if one in message]


def test_without_an_application_nothing_changes(tmp_path: Path) -> None:
    assert loaded(tmp_path).target.application is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('kind = "rest"\n', "", 'target.application is only for kind = "rest"; omit it'),
        (
            'client_id = "local.65f1c0de5a1e42.12345678"\n',
            "",
            "target.application.client_id is required; write it there",
        ),
        ('client_secret = "env:APP_SECRET"\n', "", "target.application.client_secret is required"),
        ('refresh_token = "file:refresh.txt"\n', "", "target.application.refresh_token is required"),
        ("local.65f1c0de5a1e42.12345678", "my application", "target.application.client_id is not a client_id; copy it"),
        ("env:APP_SECRET", "two words", "target.application.client_secret is not a client_secret; copy"),
        ("file:refresh.txt", "refresh_token=abc", "target.application.refresh_token is not a token; write"),
        ("file:refresh.txt", "file:nowhere.txt", "target.application.refresh_token takes its value from the file"),
        ("client_id =", 'access_token = "a b"\nclient_id =', "target.application.access_token is not a token; write"),
        ("client_id =", 'token_url = "oauth"\nclient_id =', "target.application.token_url is not an https address"),
        ("client_id =", 'token_url = "http://o.example/"\nclient_id =', "target.application.token_url is not an https"),
        ("client_id =", 'client_token = "x"\nclient_id =', "unknown key target.application.client_token; did you mean"),
        ("client_id =", 'clientid = "x"\nclient_id =', 'target.application.clientid; did you mean "client_id"?'),
        (
            "client_id =",
            "access_token = 5\nclient_id =",
            "access_token is not a valid value; write a text in quotes",
        ),
    ],
)
def test_every_mistake_about_an_application_is_one_sentence(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in REST
    (tmp_path / "refresh.txt").write_text("refreshTOKEN0987654321\n")
    words = complaint(tmp_path, REST.replace(old, new), APP_SECRET="appSECRET0123456789")
    assert message in words
    assert not [one for one in ("appSECRET0123456789", "refreshTOKEN", "two words", "a b") if one in words]


def test_whoever_only_looks_needs_no_application(tmp_path: Path) -> None:
    settings = load(written(tmp_path, REST), environ={}, portals=False)
    assert settings.target.application is None
    assert settings.absent == {"target"}


# A secret that stands in the wrong place: behind `file:`, under a key that wants a number, as a name.
HOOK = f"https://cloud.example/rest/1/{SECRET}/"
SCREAMING = "k3y9w0rd7f3a91cc"


@pytest.mark.parametrize("secret", [HOOK, SCREAMING])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f'"{HOOK}"', '"file:{}"'),
        (f'"{HOOK}"', '"env:{}"'),
        (f'"{HOOK}"', '"keyvault:{}"'),
        (f'"{HOOK}"', '["{}"]'),
        ("[target]", 'timezone = "{}"\n[target]'),
        ("[target]", 'requests_per_second = "{}"\n[target]'),
        ("[target]", 'allow_http = "{}"\n[target]'),
        ("[target]", 'redirect_hosts = ["no name {}"]\n[target]'),
        ("[target]", 'file_hosts = "{}"\n[target]'),
        ("[target]", '"{}" = 1\n[target]'),
        ("[target]", '[target]\nkind = "{}"'),
        ("[target]", '[target]\nportal_url = "x{}"'),
        ("[target]", '[run]\nworkers = "{}"\n[target]'),
        ("[target]", '[run]\nentities = ["{}"]\n[target]'),
        ("[target]", '[mapping]\nplaceholder_user = "{}"\n[target]'),
        ("[target]", '[mapping]\nexisting_users = "{}"\n[target]'),
        ("[target]", '[mapping.policy]\n"groups.OWNER_ID" = "{}"\n[target]'),
        ("[target]", '[entities.chats]\nbatch = "{}"\n[target]'),
        ("[target]", '[store]\nurl = "{}"\n[target]'),
        ("[target]", 'timezone = "{}\n[target]'),
        ("[target]", '[x."{0}"]\n[x."{0}"]\n[target]'),
    ],
)
def test_a_mistake_never_repeats_a_value(tmp_path: Path, old: str, new: str, secret: str) -> None:
    message = complaint(tmp_path, GOOD.replace(old, new.format(secret)))
    assert SCREAMING not in message
    assert "/rest/1/" not in message


def test_hosts_are_taken_as_names_or_addresses(tmp_path: Path) -> None:
    text = GOOD.replace("[target]", 'redirect_hosts = ["https://New.Example/", "b.example:8443"]\n[target]')
    settings = loaded(tmp_path, text, B24MIGRATE_SOURCE__FILE_HOSTS="files.example, .cdn.example")
    assert settings.source.redirect_hosts == ("new.example", "b.example")
    assert settings.source.file_hosts == ("files.example", ".cdn.example")
