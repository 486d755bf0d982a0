"""Bytes behind links: photos, avatars and files."""

import hashlib
import re
from collections.abc import Callable, Iterator
from email.utils import formatdate
from enum import IntEnum
from functools import partial
from typing import NamedTuple
from urllib.parse import parse_qs, quote

from b24sim.company.crm_files import stretch
from b24sim.company.files import File, picture
from b24sim.company.plan import ANCHOR
from b24sim.http import HTML, LOGIN_PAGE, NOT_FOUND, Scope, Send, close, header, respond, respond_in_pieces
from b24sim.methods.crm_items import GET_FILE
from b24sim.methods.disk import UF, signature
from b24sim.portal import Portal
from b24sim.request import Address

PNG = b"image/png"
BINARY = b"application/octet-stream"
PIECE = 1 << 18
HALF = -1


class Habit(IntEnum):
    """Who serves a file, by its number: each of them has its own way with `Range`.

    The first is a web server, or a storage behind it. The others are what the kernel does by itself
    (main/classes/general/file.php, ViewByUser): it gives the rest of a file that lies on its disk, with an ETag that
    has no quotes, and names the range of whole files, too; with nothing to cache it tells no version at all; and of a
    file in a cloud storage it promises the rest and begins at the first byte."""

    WEB_SERVER = 0
    NO_RANGES = 1
    KERNEL = 2
    KERNEL_FROM_CLOUD = 3

    @classmethod
    def by_number(cls, number: int) -> "Habit":
        return cls(number % len(cls))


class Served(NamedTuple):
    """A file on its way out."""

    number: int
    size: int
    stretch: Callable[[int, int], bytes]
    disposition: bytes


async def download(portal: Portal, address: Address | None, scope: Scope, send: Send, cut: int = 0) -> None:
    """Serve a link. A link that is signed wrongly gives the login page, with status 200. `cut`: after so many bytes
    the connection breaks."""
    portal.stats.downloads += 1
    if not header(scope, b"user-agent"):
        await respond(send, 404, NOT_FOUND, HTML)
        return
    if address is None and scope["path"] != UF:
        await _picture(portal, scope, send)
        return
    if address is not None and address.method == GET_FILE:
        await _crm_file(portal, address, scope, send, cut)
        return
    number = _granted(portal, address, scope) if address else _attached(portal, scope)
    file = portal.company.drive_file(number) if number else _of_product(portal, address, scope)
    if file is None:
        await respond(send, 200, LOGIN_PAGE, HTML)
        return
    disposition = f'attachment; filename="file.{file.extension}"'.encode()
    await _serve(portal, scope, send, Served(file.id, file.size, file.stretch, disposition), cut)


async def _serve(portal: Portal, scope: Scope, send: Send, file: Served, cut: int) -> None:
    habit, headers = (
        Habit.by_number(file.number),
        [(b"content-type", BINARY), (b"content-disposition", file.disposition)],
    )
    asked = re.fullmatch(r"bytes=(\d+)-", header(scope, b"range"))
    start = int(asked[1]) if asked and habit is not Habit.NO_RANGES else 0
    if start >= file.size and start and habit is Habit.WEB_SERVER:
        await respond(send, 416, NOT_FOUND, HTML, ((b"content-range", f"bytes */{file.size}".encode()),))
        return
    start = start if start < file.size else 0
    if habit in (Habit.WEB_SERVER, Habit.KERNEL):
        headers += [(b"accept-ranges", b"bytes"), *_version(file, habit)]
    if habit is Habit.KERNEL or (habit is Habit.WEB_SERVER and start):
        headers.append((b"content-range", f"bytes {start}-{file.size - 1}/{file.size}".encode()))
    headers.append((b"content-length", str(file.size - start).encode()))
    first = 0 if habit is Habit.KERNEL_FROM_CLOUD else start
    last = first + file.size - start
    end = min(last, first + ((last - first) // 2 if cut == HALF else cut)) if cut else last
    begun = {"status": 206 if start else 200, "headers": headers}
    if end < last:
        await respond_in_pieces(scope, send, begun, _pieces(file, first, end), portal.stats.count_download, whole=False)
        close(scope)
        return
    await respond_in_pieces(scope, send, begun, _pieces(file, first, end), portal.stats.count_download)


def _pieces(file: Served, start: int, end: int) -> Iterator[bytes]:
    return (file.stretch(place, min(end, place + PIECE)) for place in range(start, end, PIECE))


def _version(file: Served, habit: Habit) -> list[tuple[bytes, bytes]]:
    mark = hashlib.sha256(f"{file.number}:{file.size}".encode()).hexdigest()[:32]
    etag = mark if habit is Habit.KERNEL else f'"{mark}"'
    return [(b"etag", etag.encode()), (b"last-modified", formatdate(ANCHOR, usegmt=True).encode())]


async def _crm_file(portal: Portal, address: Address, scope: Scope, send: Send, cut: int) -> None:
    """Only this header contains the name of a file in a CRM field."""
    number = _granted(portal, address, scope, "crm")
    file = portal.company.crm.file(number) if number else None
    if file is None:
        await respond(send, 200, LOGIN_PAGE, HTML)
        return
    name = f"attachment; filename=\"file.{file.extension}\"; filename*=utf-8''{quote(file.name, safe='')}".encode()
    await _serve(portal, scope, send, Served(file.id, file.size, partial(stretch, file), name), cut)


def _of_product(portal: Portal, address: Address | None, scope: Scope) -> File | None:
    """A picture of the catalogue."""
    number = _granted(portal, address, scope, "catalog") if address else 0
    return portal.company.catalog.file(number) if number else None


def _granted(portal: Portal, address: Address, scope: Scope, wanted: str = "disk") -> int:
    token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
    if token.startswith("im|"):
        return portal.spend_token(token)
    kind, _, rest = token.partition("|")
    number, _, signed = rest.partition("|")
    user = int(address.user) if address.user.isdigit() else 0
    known = portal.webhooks.get(user) == address.secret
    return (
        int(number)
        if kind == wanted and number.isdigit() and known and signed == signature(address.secret, int(number))
        else 0
    )


def _attached(portal: Portal, scope: Scope) -> int:
    """The file behind /bitrix/tools/disk/uf.php, for links that carry a webhook's owner and secret."""
    asked = {key: values[0] for key, values in parse_qs(scope["query_string"].decode("latin-1")).items()}
    user, number = asked.get("auth[aplogin]", ""), asked.get("attachedId", "")
    if not (user.isdigit() and number.isdigit() and portal.webhooks.get(int(user)) == asked.get("auth[ap]", "")):
        return 0
    attachments = portal.company.attachments
    found = attachments.find(int(number))
    readable = found is not None and attachments.readable(found, int(user), int(user) in portal.admins)
    return found.object_id if found and readable else 0


async def _picture(portal: Portal, scope: Scope, send: Send) -> None:
    """Pictures are public: /upload/main/<user>/, /upload/sonet/<group>/, /upload/im/<chat>/."""
    path = str(scope["path"])
    if path.startswith(("/bitrix/", "/disk/")):
        # Links meant for a browser session: without its cookies there is only the login page.
        await respond(send, 200, LOGIN_PAGE, HTML)
        return
    parts = path.strip("/").split("/")
    if (
        len(parts) == 4
        and parts[0] == "upload"
        and parts[2].isdigit()
        and _has_picture(portal, parts[1], int(parts[2]))
    ):
        drawn = portal.company.pictures.get((parts[1], int(parts[2])))
        label = f"{parts[1]}:{parts[2]}:{scope['query_string'].decode()}"
        await respond(send, 200, picture(label) if drawn is None else drawn, PNG)
        return
    await respond(send, 404, NOT_FOUND, HTML)


def _has_picture(portal: Portal, kind: str, number: int) -> bool:
    company = portal.company
    if kind == "main":
        return number in company.users and "PERSONAL_PHOTO" in company.users.row(number)
    if kind == "sonet":
        return number in company.groups and "IMAGE" in company.groups.row(number)
    return kind == "im" and number in company.chats and company.chats[number].has_avatar
