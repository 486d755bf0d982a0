"""Bytes behind links: photos, avatars and files."""

from urllib.parse import parse_qs, quote

from b24sim.company.crm_files import content
from b24sim.company.files import picture
from b24sim.http import HTML, LOGIN_PAGE, NOT_FOUND, Scope, Send, header, respond
from b24sim.methods.crm_items import GET_FILE
from b24sim.methods.disk import UF, signature
from b24sim.portal import Portal
from b24sim.request import Address

PNG = b"image/png"
BINARY = b"application/octet-stream"


async def download(portal: Portal, address: Address | None, scope: Scope, send: Send) -> None:
    """Serve a link. A link that is signed wrongly gives the login page, with status 200."""
    portal.stats.downloads += 1
    if not header(scope, b"user-agent"):
        await respond(send, 404, NOT_FOUND, HTML)
        return
    if address is None and scope["path"] != UF:
        await _picture(portal, scope, send)
        return
    if address is not None and address.method == GET_FILE:
        await _crm_file(portal, address, scope, send)
        return
    number = _granted(portal, address, scope) if address else _attached(portal, scope)
    file = portal.company.drive_file(number) if number else None
    if file is None:
        await respond(send, 200, LOGIN_PAGE, HTML)
        return
    disposition = f'attachment; filename="file.{file.extension}"'.encode()
    await respond(send, 200, file.content(), BINARY, ((b"content-disposition", disposition),))


async def _crm_file(portal: Portal, address: Address, scope: Scope, send: Send) -> None:
    """Nothing but this header tells the name of a file in a CRM field."""
    number = _granted(portal, address, scope, "crm")
    file = portal.company.crm.file(number) if number else None
    if file is None:
        await respond(send, 200, LOGIN_PAGE, HTML)
        return
    name = f"attachment; filename=\"file.{file.extension}\"; filename*=utf-8''{quote(file.name, safe='')}".encode()
    await respond(send, 200, content(file), BINARY, ((b"content-disposition", name),))


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
