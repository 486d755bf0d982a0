"""`demo`: a whole migration between two simulated portals on this machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from b24migrate.cli.session import Session
from b24migrate.messages import say
from b24migrate.messages.terminal import phrase
from b24migrate.model.errors import BadConfiguration, Halted
from b24migrate.private_files import make_folder

FINDINGS = 5
SPEAKERS = "1,2,3"  # whose chats can be read
START_S = 120.0  # a busy machine takes its time
STOP_S = 5.0
MARK = "b24migrate.toml"
# The plan of a large company: the demo should show the program, not the waiting.
LIMITS = ("--requests-per-second", "5", "--bucket", "250")
CONFIGURATION = """\
# Written by `b24migrate demo`. The portals were simulated and are gone when the demo has ended.
[source]
webhook = "{cloud}"
more_webhooks = {more}
requests_per_second = 5
bucket = 250
[target]
webhook = "{box}"
[mapping]
placeholder_user = "1"            # the box's administrator stands for people whom the cloud no longer has
[store]
url = {store}
"""


def demo(
    context: typer.Context,
    *,
    users: Annotated[int, typer.Option(min=5)] = 60,
    groups: Annotated[int, typer.Option(min=0)] = 25,
    chats: Annotated[int, typer.Option(min=0)] = 40,
    messages: Annotated[int, typer.Option(min=0)] = 2000,
    tasks: Annotated[int, typer.Option(min=0)] = 100,
    deals: Annotated[int, typer.Option(min=0)] = 150,
    keep: Annotated[bool, typer.Option("--keep")] = False,
    serve: Annotated[bool, typer.Option("--serve")] = False,
    store: Annotated[str, typer.Option(metavar="URL")] = "",
) -> None:
    """Migrate between two simulated portals on this machine."""
    from b24migrate.cli.run_plan import conduct, run_plan
    from b24migrate.cli.serve import dashboard_running
    from b24migrate.cli.signals import interruptible
    from b24migrate.private_files import open_private

    session: Session = context.obj
    refuse_without_simulator()
    folder = prepared(Path("demo-out"))
    sizes = {"--users": users, "--groups": groups, "--chats": chats, "--messages": messages}
    sizes |= {"--tasks": tasks, "--deals": deals, "--contacts": deals // 2, "--companies": deals // 4}
    sizes |= {"--products": deals // 4, "--requisites": deals // 3, "--recurring": deals // 25}
    sizes |= {"--leads": deals // 3, "--quotes": deals // 6, "--invoices": deals // 6}
    sizes |= {"--calls": deals // 5, "--crm-activities": deals, "--crm-comments": deals // 2}
    company = [text for name, size in sizes.items() for text in (name, str(size))]
    typer.echo(phrase("cli.demo.starting"))
    with ExitStack() as stack:
        stack.enter_context(interruptible())
        cloud, box = stack.enter_context(portals([*company, "--webhooks", SPEAKERS]))
        session.config = folder / "b24migrate.toml"
        with open_private(session.config, "x", encoding="utf-8") as out:
            out.write(configuration(cloud, box, *([store] if store else [])))
        session.environ = {}
        stack.enter_context(dashboard_running(session))
        code = conduct(session, run_plan([]))
        if code == FINDINGS:
            typer.echo(phrase("cli.demo.company"))
            typer.echo(phrase("cli.demo.company_more"))
        typer.echo(phrase("cli.demo.results", folder=folder))
        for command in ("status", "errors", f"report --out {folder}/report", "serve --open"):
            typer.echo(f"  {own_name()} --config {session.config} {command}")
        if keep or serve:
            typer.echo(phrase("cli.demo.portals", url=cloud.url, url2=box.url))
            threading.Event().wait()
    raise typer.Exit(code)


def own_name() -> str:
    """How to call this program from here: its path where the shell would not find it."""
    script = Path(sys.argv[0])
    if shutil.which("b24migrate") or script.name != "b24migrate":
        return "b24migrate"
    return os.path.relpath(script)


# ---------------------------------------------------------------- two simulated portals


class SimPortal(NamedTuple):
    url: str
    webhooks: tuple[str, ...]


def refuse_without_simulator() -> None:
    """A production install does not have it."""
    if find_spec("b24sim") is None:
        hint = say("cli.demo.install")
        raise BadConfiguration(say("cli.demo.missing"), code="USAGE", hint=hint)


def prepared(folder: Path) -> Path:
    """Empty. A folder of that name that no demo made is left alone."""
    if folder.exists():
        if not folder.is_dir() or (any(folder.iterdir()) and not (folder / MARK).exists()):
            raise BadConfiguration(say("cli.demo.taken", folder=folder), hint=say("cli.demo.rename"))
        shutil.rmtree(folder, ignore_errors=True)
    try:
        make_folder(folder)
    except OSError as error:
        hint = say("cli.demo.writable")
        raise Halted(say("cli.demo.unmade", folder=folder, why=error.strerror), hint=hint) from None
    return folder


def configuration(cloud: SimPortal, box: SimPortal, store: str = "sqlite:///b24migrate.db") -> str:
    more = json.dumps(list(cloud.webhooks[1:]))
    return CONFIGURATION.format(cloud=cloud.webhooks[0], more=more, box=box.webhooks[0], store=json.dumps(store))


@contextmanager
def portals(company: Sequence[str]) -> Iterator[tuple[SimPortal, SimPortal]]:
    """A cloud portal with the company and an empty box; both end with the block, however it ends."""
    with ExitStack() as stack:
        cloud = stack.enter_context(_child(["--role", "cloud", *LIMITS, *company]))
        box = stack.enter_context(_child(["--role", "box"]))
        yield _ready(cloud), _ready(box)


@contextmanager
def _child(arguments: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """In a session of its own, so that a Ctrl-C meant for us does not pull the portals away first."""
    child = subprocess.Popen(  # noqa: S603 - our own interpreter and our own module
        [sys.executable, "-m", "b24sim", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield child
    finally:
        _end(child)


def _end(child: subprocess.Popen[str]) -> None:
    child.terminate()
    try:
        child.communicate(timeout=STOP_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()


def _ready(child: subprocess.Popen[str]) -> SimPortal:
    """Reads the portal's address from its first line, which is JSON."""
    late = threading.Timer(START_S, child.kill)
    late.start()
    try:
        line = child.stdout.readline() if child.stdout else ""
    finally:
        late.cancel()
    if not line:
        _, complaint = child.communicate()
        raise Halted(say("cli.demo.portal", why=complaint.strip()[-300:]), hint=say("cli.demo.numbers"))
    values = json.loads(line)
    return SimPortal(values["url"], tuple(hook["url"] for hook in values["webhooks"]))
