"""`init`: writes a configuration to fill in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from b24migrate.cli.session import Session
from b24migrate.messages import say
from b24migrate.messages.terminal import phrase
from b24migrate.model.errors import BadConfiguration, Halted

if TYPE_CHECKING:
    pass


def init(context: typer.Context) -> None:
    """Write a commented b24migrate.toml to fill in.

    It goes into this directory, or where --config says. An existing file is never overwritten.
    """
    from b24migrate.config import DEFAULT_FILE
    from b24migrate.private_files import open_private

    session: Session = context.obj
    path = session.config or Path(DEFAULT_FILE)
    try:
        with open_private(path, "x", encoding="utf-8") as file:
            file.write(TEMPLATE)
    except FileExistsError:
        hint = say("cli.init.taken_fix")
        raise BadConfiguration(say("cli.init.taken", path=path), hint=hint) from None
    except OSError as error:
        hint = say("cli.init.place_fix")
        raise Halted(say("cli.unwritable", path=path, why=error.strerror), hint=hint) from None
    typer.echo(f"Written: {path}")
    typer.echo(phrase("cli.init.next"))
    typer.echo(phrase("cli.init.next_more"))


TEMPLATE = """\
# b24migrate: from a Bitrix24 Cloud portal (source) to a Bitrix24 box (target).
# Only the two webhooks are needed. Paths are relative to this file. Every key can
# also be set in the environment: B24MIGRATE_SOURCE__WEBHOOK, B24MIGRATE_RUN__WORKERS.
# A secret can be named instead of written: "env:NAME", "file:PATH", or "keyvault:NAME"
# in the Azure key vault whose address is in B24MIGRATE_KEY_VAULT.
# Then run: b24migrate doctor

[source]
# Create it on the cloud portal as an administrator: Developer resources → Other →
# Inbound webhook. Tick: user, department, sonet_group, im, crm, task, log, bizproc; and for
# custom fields, dates of projects and files: user.userfield, userfieldconfig, socialnetwork, disk.
webhook = "env:B24_SOURCE"        # https://portal.bitrix24.ru/rest/1/secret/
more_webhooks = []                # other users' webhooks: their private chats are readable only with them
timezone = "Europe/Moscow"        # as in the portal's settings
requests_per_second = 2           # 5 (and bucket 250) on Enterprise; 0 = no limit
bucket = 50
operating_seconds = 480
allow_http = false                # loopback is always allowed
redirect_hosts = []               # where the webhook may follow a redirect, besides the portal's own domain
file_hosts = []                   # where files may be, besides the portal's own domain and the vendor's CDN

[target]
kind = "import"                   # the import module on the box; "rest": its own methods, which keep less
webhook = "env:B24_TARGET"        # https://box.example/rest/1/secret/
portal_url = ""                   # for links in texts; default: where the webhook is
redirect_hosts = []               # as for the source
close_dates = true                # kind = "rest": false keeps who changed closed CRM records last instead

# Only with kind = "rest", for authors and dates of chats and for workflow templates, which no webhook may write
# (docs/rest-target.md says how to make a local application on the box):
# [target.application]
# client_id = "local.…"
# client_secret = "env:B24_APP_SECRET"
# refresh_token = "file:secrets/refresh.txt"
# access_token = ""               # may be left out
# token_url = "https://oauth.bitrix.info/oauth/token/"

[store]
url = "sqlite:///b24migrate.db"   # what was read, what became of it, and the queue

[run]
workers = 4
verify_sample = 10                # records of each kind read back and compared
test_limit = 0                    # a try-out with the first N records; 0 = everything
user_coverage = 0.98              # share of users that must be imported before the rest
outage_minutes = 30               # how long to wait for a portal that is down
largest_file_mb = 0               # skip larger files; 0 = only what the target cannot take
entities = []                     # [] = all
language = ""                     # of the command line: "en" or "ru"; "" = as the locale says
allow_activities = []             # workflow activities to import though they run code, e.g. ["CodeActivity"]

[mapping]
placeholder_user = ""             # target user id that stands for owners and authors who are gone
existing_users = "link"           # users whose e-mail the box has already: "link" or "error"

[mapping.policy]                  # what to do with a reference that leads nowhere
# "groups.OWNER_ID" = "placeholder"   # or "require", "drop"

# One table per entity, all optional:
# [entities.chats]
# enabled = true
# batch = 20
# batch_messages = 100
"""
