"""`box`: what goes onto the box itself."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

import b24migrate
from b24migrate.messages import say
from b24migrate.messages.terminal import phrase
from b24migrate.model.errors import Halted
from b24migrate.private_files import replace_private

MODULE = "b24migrate.import"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest date in a zip: the same files give the same bytes
box = typer.Typer()


@box.callback()
def root() -> None:
    """The import module for the box."""


@box.command("pack")
def pack(
    out: Annotated[Path, typer.Option("--out", metavar="FILE")] = Path(f"{MODULE}.zip"),
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Pack the import module for the box into a zip file."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, file in files(folder()):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16  # readable for the web server after unpacking
            archive.writestr(entry, file.read_bytes())
    digest = hashlib.sha256(packed.getvalue()).hexdigest()
    try:
        with replace_private(out, "wb") as file:
            file.write(packed.getvalue())
    except OSError as error:
        raise Halted(say("cli.unwritable", path=out, why=error.strerror), hint=say("cli.other_out")) from None
    if as_json:
        typer.echo(json.dumps({"file": str(out), "sha256": digest}))
        return
    typer.echo(phrase("cli.box.written", out=out, digest=digest))
    typer.echo(phrase("cli.box.next"))


def folder() -> Path:
    """In an installation it is next to the program, in a checkout next to the sources."""
    home = Path(b24migrate.__file__).parent
    places = (home / "box_module" / MODULE, home.parents[1] / "box-module" / MODULE)
    return next(place for place in places if place.is_dir())


def files(module: Path) -> Iterator[tuple[str, Path]]:
    for file in sorted(module.rglob("*")):
        if file.is_file():
            yield f"{MODULE}/{file.relative_to(module).as_posix()}", file
