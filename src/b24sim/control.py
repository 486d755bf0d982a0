"""The control room under /_sim/: what was asked, what is true, and what shall change."""

from b24sim.http import Receive, Scope, Send, read_body, respond
from b24sim.phpjson import encode
from b24sim.portal import Portal


async def control(portal: Portal, scope: Scope, receive: Receive, send: Send) -> None:
    await read_body(receive)
    await respond(send, 200, encode(portal.stats.summary()))
