"""The second step of an upload: a form with the file, sent to the address that the first step gave."""

from email.parser import BytesParser
from email.policy import HTTP
from urllib.parse import parse_qs

from b24sim.context import Context
from b24sim.errors import RestError
from b24sim.methods.disk import signature
from b24sim.native.disk import UNIQUE, keep
from b24sim.request import Sent
from b24sim.result import Result

UPLOAD = "upload"


def take_upload(context: Context, sent: Sent) -> Result:
    token = parse_qs(sent.query).get("token", [""])[0]
    kind, place, mark, signed = (*token.split("|"), "", "", "", "")[:4]
    if kind != "disk" or not place.isdigit() or signed != signature(context.caller.secret, int(place)):
        raise RestError("ACCESS_DENIED", "Access denied", 403)
    file = _file(sent.body, sent.content_type)
    if file is None:
        raise RestError("ERROR_COULD_NOT_SAVE_FILE", "Could not save file")
    return Result(keep(context, int(place), *file, unique=mark == UNIQUE))


def _file(body: bytes, content_type: str) -> tuple[str, bytes] | None:
    message = BytesParser(policy=HTTP).parsebytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body)
    for part in message.iter_parts() if message.is_multipart() else ():
        if part.get_param("name", header="content-disposition") == "file":
            payload = part.get_payload(decode=True)
            name = (part.get_filename() or "file").encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            return name, payload if isinstance(payload, bytes) else b""
    return None
