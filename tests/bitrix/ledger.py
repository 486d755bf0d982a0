"""A simulated portal whose lists are whatever a test writes into them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Container
from random import Random
from typing import Any

from b24sim.company.company import Company
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.phpjson import encode_all
from b24sim.portal import Portal
from b24sim.request import Params
from b24sim.result import Result

PAGE = 50


class Ledger(Portal):
    """`user.get` lists `ids` with every PHP habit of the real method; `im.dialog.messages.get` lists `messages`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(Company(), **options)
        self.ids: list[int] = []  # in order
        self.messages: dict[str, list[int]] = {}
        self.forbidden: set[str] = set()
        self.refusal = "ACCESS_ERROR"
        self.poison: set[int] = set()
        self.text = "plain"
        self.order = "newest"  # of messages in a page
        self.short = False  # some pages in the middle are
        self.extra = ""  # messages that are added to every page: the oldest or the newest
        self.stuck = False  # LAST_ID is ignored below the newest page
        self.mapped = False  # messages are a map by id
        self.highest_cursor = 10**18  # LAST_ID above it brings nothing
        self.calls = 0
        self.meanwhile: Callable[[int], None] = lambda _: None
        self._mine = {
            "user.get": Method("user.get", (), self._users),
            "department.get": Method("department.get", (), self._departments),
            "im.dialog.messages.get": Method("im.dialog.messages.get", (), self._backward),
            "im.chat.message.list": Method("im.chat.message.list", (), self._slices),
        }

    def method(self, name: str) -> Method:
        return self._mine.get(name) or super().method(name)

    def _began(self) -> None:
        self.calls += 1
        self.meanwhile(self.calls)

    def _users(self, _: Context, params: Params) -> Result:
        self._began()
        wanted = params.get("FILTER") or {}
        lo, hi = wanted.get(">ID", 0), wanted.get("<=ID", 10**12)
        # A reference that led nowhere arrives as a list or a map: PHP compares it somehow, and rows come back.
        low = int(lo) if isinstance(lo, str | int) else 0
        found = self.ids[bisect_right(self.ids, low) : bisect_right(self.ids, int(hi))]
        if params.get("order") == "DESC":
            found.reverse()
        start = int(params.get("start", 0))
        page = found[max(0, start) : max(0, start) + PAGE]
        if self.poison & set(page):
            raise RestError("INTERNAL_SERVER_ERROR", "Internal server error", 500)
        rows = encode_all({"ID": str(one), "NAME": self.text} for one in page)
        if start < 0 or not found:
            return Result(rows, 0 if start < 0 and found else None)
        following = start + PAGE
        return Result(rows, len(found), following if following < len(found) else None)

    def _departments(self, _: Context, params: Params) -> Result:
        self._began()
        start = int(params.get("start", 0)) // PAGE * PAGE
        if start >= len(self.ids):
            start = 0  # old methods answer their first page again
        rows = [{"ID": str(one)} for one in self.ids[start : start + PAGE]]
        following = start + PAGE
        return Result(encode_all(rows), len(self.ids), following if following < len(self.ids) else None)

    def _known(self, key: str) -> list[int]:
        self._began()
        if key in self.forbidden:
            raise RestError(self.refusal, "No access", 403)
        return sorted(self.messages.get(key, []))

    def _messages(self, ids: list[int], unread: Container[int] = ()) -> dict[str, Any]:
        if self.poison & set(ids):
            raise RestError("INTERNAL_SERVER_ERROR", "Internal server error", 500)
        rows = [
            {
                "id": one,
                "text": self.text,
                "unread": one in unread,
                "params": {"FILE_ID": [one]} if one % 2 else [],
            }
            for one in ids
        ]
        files = [{"id": one, "name": f"f{one}"} for one in ids if one % 2]
        if self.order == "oldest":
            rows.reverse()
        elif self.order == "mixed":
            Random(len(rows)).shuffle(rows)
        listed = {str(row["id"]): row for row in rows} if self.mapped and rows else rows
        return {"chat_id": 1, "messages": listed, "users": [], "files": files}

    def _backward(self, _: Context, params: Params) -> Result:
        """Down from LAST_ID, as kernels do: 0 is no bound; a reference that led nowhere is 1, and nothing is below it."""
        last = params.get("LAST_ID", 0)
        high = int(last) if isinstance(last, str | int) else 1
        known = self._known(str(params.get("DIALOG_ID")))
        if high > self.highest_cursor:
            return Result(self._messages([]))
        below = [one for one in known if not high or one < high][::-1]
        limit = int(params["LIMIT"])
        if self.short and len(below) > limit:
            limit -= 1 + below[0] % 3
        page = below[:limit]
        if self.stuck and high < max(known, default=0):
            page = known[-2:]
        page += [one for one in known[-2:] if one not in page] if self.extra == "newest" else []
        page += [one for one in known[:2] if one not in page and high and one < high] if self.extra == "oldest" else []
        return Result(self._messages(page, unread=known[-2:] if self.extra == "newest" else ()))

    def _slices(self, _: Context, params: Params) -> Result:
        known = self._known(str(params.get("CHAT_ID")))
        offset = int(params["OFFSET"])
        return Result(self._messages(known[offset : offset + int(params["LIMIT"])]), len(known))
