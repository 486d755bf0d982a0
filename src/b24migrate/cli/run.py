"""`run`, `do`, and one command per phase: what moves records."""

from __future__ import annotations

from typing import Annotated

import typer

from b24migrate.cli.completion import entities, mini_tasks, phases
from b24migrate.cli.fidelity import AcceptFidelity
from b24migrate.cli.session import Session

AsJson = Annotated[bool, typer.Option("--json")]
Limit = Annotated[int | None, typer.Option("--test-limit", min=0, metavar="N")]
Port = Annotated[
    int | None,
    typer.Option("--metrics-port", min=0, max=65535, metavar="P"),
]
Full = Annotated[bool, typer.Option("--full")]
One = Annotated[str, typer.Argument(metavar="ENTITY", autocompletion=entities)]


def run(
    context: typer.Context,
    *,
    entity: Annotated[
        list[str] | None,
        typer.Option("--entity", metavar="NAME", autocompletion=entities),
    ] = None,
    phase: Annotated[
        list[str] | None,
        typer.Option("--phase", metavar="NAME", autocompletion=phases),
    ] = None,
    test_limit: Limit = None,
    as_json: AsJson = False,
    metrics_port: Port = None,
    full: Full = False,
    accept_fidelity: AcceptFidelity = False,
) -> None:
    """Migrate: read, import, verify."""
    _conduct(
        context,
        entity or [],
        _phases(phase or []),
        as_json=as_json,
        test_limit=test_limit,
        metrics_port=metrics_port,
        full=full,
        accept_fidelity=accept_fidelity,
    )


def do(
    context: typer.Context,
    task: Annotated[
        str,
        typer.Argument(metavar="MINI-TASK", autocompletion=mini_tasks),
    ],
    test_limit: Limit = None,
    as_json: AsJson = False,
    full: Full = False,
) -> None:
    """Run one step by its name: ENTITY-PHASE."""
    from b24migrate.entities import catalog
    from b24migrate.entities.names import mini_task

    entity, phase = mini_task(task, catalog())
    _conduct(context, [entity], (phase,), as_json=as_json, test_limit=test_limit, full=full)


def get(context: typer.Context, entity: One, test_limit: Limit = None, as_json: AsJson = False) -> None:
    """Read an entity from the source into the store."""
    _conduct(context, [entity], ("get",), as_json=as_json, test_limit=test_limit)


def set_(context: typer.Context, entity: One, as_json: AsJson = False) -> None:
    """Import the saved copy of an entity into the target."""
    _conduct(context, [entity], ("set",), as_json=as_json)


def verify(context: typer.Context, entity: One, as_json: AsJson = False, full: Full = False) -> None:
    """Compare an entity on the target with the source."""
    _conduct(context, [entity], ("verify",), as_json=as_json, full=full)


def custom_fields(context: typer.Context, entity: One, as_json: AsJson = False) -> None:
    """Create the custom fields of an entity on the target."""
    _conduct(context, [entity], ("custom-fields-get", "custom-fields-set"), as_json=as_json)


def _phases(names: list[str]) -> tuple[str, ...]:
    """In their order, whatever order they are named in."""
    from b24migrate.entities.names import unknown_name
    from b24migrate.model.streams import PHASES

    for name in names:
        if name not in PHASES:
            raise unknown_name(name, "phase", PHASES)
    return tuple(phase for phase in PHASES if phase in names)


def _conduct(
    context: typer.Context,
    entities: list[str],
    phases: tuple[str, ...],
    *,
    as_json: bool,
    test_limit: int | None = None,
    metrics_port: int | None = None,
    full: bool = False,
    accept_fidelity: bool = False,
) -> None:
    from b24migrate.cli.run_plan import conduct, run_plan
    from b24migrate.entities import catalog
    from b24migrate.entities.names import entity_name

    session: Session = context.obj
    known = catalog()
    names = [entity_name(name, known) for name in entities]
    overrides = {} if test_limit is None else {"run": {"test_limit": test_limit}}
    act = run_plan(names, phases)
    code = conduct(
        session,
        act,
        as_json=as_json,
        metrics_port=metrics_port,
        verify_all=full,
        accept_fidelity=accept_fidelity,
        **overrides,
    )
    raise typer.Exit(code)
