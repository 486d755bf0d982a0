"""The files of the pages: read once, found by exact name, so no address leads anywhere else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from b24migrate.report.page import style_sheet
from b24migrate.web.responses import Refused

ROOT = "/static/"
KINDS = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "ico": "image/x-icon",
    "woff2": "font/woff2",
}
FOR_GOOD = "public, max-age=31536000, immutable"
ASK_FIRST = "no-cache"


class File(NamedTuple):
    body: bytes
    kind: str
    etag: str


class Static:
    def __init__(self) -> None:
        self._files: Mapping[str, File] = {
            **dict(_find_files(files(__package__) / "static")),
            "report.css": _file(style_sheet().encode(), "css"),
        }
        whole = "".join(f"{name}{file.etag}" for name, file in sorted(self._files.items()))
        self.version = hashlib.sha256(whole.encode()).hexdigest()[:12]

    @property
    def prefix(self) -> str:
        """With a version in it, so that a browser may keep what it got."""
        return f"{ROOT}{self.version}"

    def answer(self, request: Request, name: str) -> Response:
        version, _, rest = name.partition("/")
        current = version == self.version
        file = self._files.get(rest if current else name)
        if file is None:
            raise Refused(404, "DASHBOARD_NOT_FOUND", "page")
        headers = {"ETag": file.etag, "Cache-Control": FOR_GOOD if current else ASK_FIRST}
        known = [one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")]
        if file.etag in known:
            return Response(status_code=304, headers=headers)
        return Response(file.body, media_type=file.kind, headers=headers)


def _find_files(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, File]]:
    for one in folder.iterdir() if folder.is_dir() else ():
        ending = one.name.rpartition(".")[2]
        if one.is_dir():
            yield from _find_files(one, f"{prefix}{one.name}/")
        elif ending in KINDS:
            yield f"{prefix}{one.name}", _file(one.read_bytes(), ending)


def _file(body: bytes, ending: str) -> File:
    return File(body, KINDS[ending], f'"{hashlib.sha256(body).hexdigest()[:24]}"')
