"""Bytes behind links: photos, avatars and files."""

from b24sim.http import HTML, NOT_FOUND, Scope, Send, respond
from b24sim.portal import Portal
from b24sim.request import Address


async def download(portal: Portal, address: Address | None, scope: Scope, send: Send) -> None:
    portal.stats.downloads += 1
    await respond(send, 404, NOT_FOUND, HTML)
