"""A simulated portal whose lists are whatever a test writes into them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
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
        self.poison: set[int] = set()
        self.text = "plain"
        self.shuffled = False
        self.calls = 0
        self.meanwhile: Callable[[int], None] = lambda _: None
        self._mine = {
            "user.get": Method("user.get", (), self._users),
            "department.get": Method("department.get", (), self._departments),
            "im.dialog.messages.get": Method("im.dialog.messages.get", (), self._upward),
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
            raise RestError("ACCESS_ERROR", "No access", 403)
        return sorted(self.messages.get(key, []))

    def _messages(self, ids: list[int]) -> dict[str, Any]:
        if self.poison & set(ids):
            raise RestError("INTERNAL_SERVER_ERROR", "Internal server error", 500)
        rows = [{"id": one, "text": self.text, "params": {"FILE_ID": [one]} if one % 2 else []} for one in ids]
        files = [{"id": one, "name": f"f{one}"} for one in ids if one % 2]
        return {"chat_id": 1, "messages": rows[::-1] if self.shuffled else rows, "users": [], "files": files}

    def _upward(self, _: Context, params: Params) -> Result:
        first = params.get("FIRST_ID", 0)
        low = int(first) if isinstance(first, str | int) else 0
        known = self._known(str(params.get("DIALOG_ID")))
        return Result(self._messages([one for one in known if one > low][: int(params["LIMIT"])]))

    def _slices(self, _: Context, params: Params) -> Result:
        known = self._known(str(params.get("CHAT_ID")))
        offset = int(params["OFFSET"])
        return Result(self._messages(known[offset : offset + int(params["LIMIT"])]), len(known))
