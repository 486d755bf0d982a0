"""A portal: a company behind webhooks, scopes and limits."""

import glob
import hashlib
import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from b24sim.boxview import furniture, refresh
from b24sim.clock import Clock, ManualClock, RunningClock, utc
from b24sim.company.changes import grow
from b24sim.company.chats import Chat
from b24sim.company.company import Company
from b24sim.company.days import SHARE, mutate
from b24sim.company.plan import DAY
from b24sim.context import Caller, Context, Method
from b24sim.envelope import Timing
from b24sim.errors import RestError
from b24sim.faults import Faults
from b24sim.habits import Habits
from b24sim.imports import Imports, Limits
from b24sim.imports.arguments import body_of
from b24sim.imports.catalog import ENTITIES
from b24sim.limits import BATCH, LeakyBucket, Operating, operating_limit
from b24sim.message_habits import MessageHabits
from b24sim.methods import all_methods
from b24sim.methods.feed import FeedHabits
from b24sim.methods.system import ALL_SCOPES, MethodHabits
from b24sim.native import native_methods
from b24sim.native.applications import LocalApplication
from b24sim.native.box_habits import BoxHabits
from b24sim.native.crm_box import furnish
from b24sim.native.ledger import Ledger
from b24sim.native.task_habits import TaskHabits
from b24sim.phpjson import Parts
from b24sim.registry import Registry
from b24sim.request import Address, Params, Sent
from b24sim.result import Result
from b24sim.stats import Stats

T = TypeVar("T")
SMALL_COST_S = 0.01
ROW_COST_S = 0.00001
IMPORT = "import"
UNKNOWN_ACTION = 22002  # of a controller that the portal has (module main, Engine\Controller)


@dataclass(slots=True)
class Costs:
    """Operating seconds that a call of each method is billed; with `wall` it also takes that long."""

    seconds: dict[str, float] = field(default_factory=dict)
    default_s: float = SMALL_COST_S
    wall: bool = False

    def seconds_of(self, method: str, rows: int = 0) -> float:
        """`rows`: what was read of a table for one page of it."""
        return self.seconds.get(method, self.default_s) + rows * ROW_COST_S


@dataclass(slots=True)
class Answer:
    """A finished call: what it returned and how long it took on the portal's clock."""

    result: Result
    timing: Timing
    cost_s: float


def _match_import() -> re.Pattern[str]:
    entities = "|".join(ENTITIES)
    return re.compile(
        rf"import\.(info|fidelity|selftest|files\.put|users\.match|({entities})\.(fields|batch|list|delete))"
    )


class Portal:
    """Cloud or box. Everything a test may want to reach is an attribute."""

    def __init__(
        self,
        company: Company | None = None,
        *,
        role: str = "cloud",
        clock: Clock | None = None,
        scopes: Iterable[str] = ALL_SCOPES,
        scopes_of: Mapping[int, Iterable[str]] | None = None,
        webhooks: Iterable[int] = (1,),
        secret: str | None = None,
        admins: Iterable[int] = (1,),
        bucket: LeakyBucket | None = None,
        operating: Operating | None = None,
        costs: Costs | None = None,
        faults: Faults | None = None,
        listing_chats: bool = False,
        without: Iterable[str] = (),
        many_owners: bool = False,
        feed_habits: FeedHabits | None = None,
        message_habits: MessageHabits | None = None,
        habits: Habits | None = None,
        latency_s: float = 0.0,
        admins_read_task_chats: bool = True,
        task_habits: TaskHabits | None = None,
        method_habits: MethodHabits | None = None,
        box_habits: BoxHabits | None = None,
        original_names: bool = True,
        document_triples: bool = True,
        module: bool = True,
        import_limits: Limits | None = None,
        application: LocalApplication | None = None,
        activities: Iterable[str] = (),
    ):
        self.is_box = role == "box"
        self.company = company or (Company.empty_box() if self.is_box else Company())
        self.clock = clock or RunningClock()
        # The module that serves import.* is on the box, or it could not be installed.
        self.has_module = self.is_box and module
        self.scopes = tuple(scope for scope in scopes if module or scope != IMPORT)
        self.scopes_of = {user: tuple(granted) for user, granted in (scopes_of or {}).items()}
        self.admins = frozenset(admins)
        self.company.task_chat_readers = self.admins if admins_read_task_chats else frozenset()
        self.bucket = bucket
        self.operating = operating
        self.costs = costs or Costs()
        self.faults = faults or Faults()
        self.listing_chats = listing_chats
        self.many_owners = many_owners
        self.feed_habits = feed_habits or FeedHabits(comments_name_post=self.is_box)
        self.message_habits = message_habits or MessageHabits()
        self.habits = habits or Habits()
        self.task_habits = task_habits or TaskHabits()
        self.company.task_chat_moves = self.task_habits.chat_moves
        self.method_habits = method_habits or MethodHabits()
        self.box_habits = box_habits or BoxHabits()
        self.original_names = original_names
        self.document_triples = document_triples  # a template's document has module, class and type
        self.latency_s = latency_s
        self.application = application
        self.activities = frozenset(activities)  # that applications brought along, besides the portal's own
        if application:
            application.issue(self.clock.now())
        self.stats = Stats()
        self.recent: dict[int, tuple[int, list[Chat]]] = {}
        self.pages: dict[tuple[int, range], Parts] = {}
        self.page_versions = (-1, -1)
        self.faces: dict[bytes, tuple[int, bytes]] = {}
        self._tokens: dict[str, int] = {}
        self._tokens_given = 0
        self._chance = random.Random(self.company.plan.seed)
        self._imported = False
        self.native = Ledger()
        self.imports = self._make_imports(import_limits)
        self.methods = self._make_methods(listing_chats, without)
        self._import_name = _match_import()
        self._secrets = {user: secret or self._secret(user) for user in webhooks}

    def _make_imports(self, limits: Limits | None) -> Imports:
        if self.is_box and self.company.plan.box:
            furnish(self.company)
        return Imports(
            now=lambda: utc(self.clock),
            timezone=self.company.plan.timezone,
            limits=limits,
            **furniture(self.company),
        )

    def _make_methods(self, listing_chats: bool, without: Iterable[str]) -> Registry:
        writing = native_methods() if self.is_box else []
        return Registry(all_methods(listing_chats=listing_chats, without=without, more=writing), self._import_method)

    @property
    def webhooks(self) -> dict[int, str]:
        """Owner and secret of each webhook."""
        return dict(self._secrets)

    def caller(self, user: int) -> Caller:
        granted = self.scopes_of.get(user, self.scopes)
        return Caller(user, self._secrets[user], user in self.admins, granted)

    def authorize(self, address: Address, token: str = "") -> Caller:
        """The webhook's owner; a wrong id or secret is 401, whatever the vendor's table says."""
        if not address.user and self.application:
            return self.application.caller(token, self.clock.now(), self.admins)
        if not address.user:
            raise RestError("NO_AUTH_FOUND", "Wrong authorization data", 401)
        user = int(address.user) if address.user.isdigit() else 0
        if self._secrets.get(user) != address.secret:
            raise RestError("INVALID_CREDENTIALS", "Invalid request credentials", 401)
        return self.caller(user)

    def method(self, name: str) -> Method:
        method = self.methods.find(name)
        misspelled = self.methods.by_lower_name(name.lower()) is not None
        if method is None and not misspelled and self.methods.controller_of(name):
            action = name.rpartition(".")[2]
            raise RestError(UNKNOWN_ACTION, f"Could not find description of {action} in Bitrix\\Controller")
        if method is None:
            raise RestError("ERROR_METHOD_NOT_FOUND", "Method not found!", 404)
        return method

    def call(self, caller: Caller, method: Method, params: Params, sent: Sent | None = None) -> Answer:
        """Run one method as its own call or, where nothing was sent, as a command of a batch."""
        if method.scopes and not any(scope in caller.scopes for scope in method.scopes):
            raise RestError(
                "insufficient_scope", "The request requires higher privileges than provided by the webhook token", 401
            )
        now = self.clock.now()
        if sent is None:
            now += self._strike_inner(method.name, caller.user)
        paid_by_batch = sent is None and self.operating is not None and self.operating.on_batch
        if self.operating and not paid_by_batch:
            self.operating.check(caller.credential, method.name, now)
        if self.is_box:
            self._keep_up(method)
        asked = {key.upper(): value for key, value in params.items()} if method.upper else params
        result = method.call(Context(self, caller, sent), asked)
        if result.next is not None and not any(name.lower() in {"order", "sort"} for name in params):
            self.stats.without_order[method.name] += 1
        cost = self.costs.seconds_of(method.name, result.read)
        return Answer(result, self.billed(caller, BATCH if paid_by_batch else method.name, now, cost), cost)

    def _keep_up(self, method: Method) -> None:
        """Native methods of a box show what was imported up to now."""
        if method.scopes == (IMPORT,):
            self._imported = True
        elif self._imported:
            self._imported = False
            refresh(self.company, self.imports, self.native)

    def billed(self, caller: Caller, name: str, now: float, cost: float) -> Timing:
        """Books the cost of a call; its answer contains the used time of its method."""
        if not self.operating:
            return Timing(now, now + cost)
        self.operating.add(caller.credential, name, now, cost)
        spent = self.operating.seconds(caller.credential, name, now)
        return Timing(now, now + cost, spent, self.operating.reset_at(caller.credential, name, now))

    def _strike_inner(self, name: str, user: int) -> float:
        delay = 0.0
        for rule in self.faults.strike(name, inner=True, user=user):
            self.stats.faults[rule.kind] += 1
            if rule.kind == "500":
                raise RestError("INTERNAL_SERVER_ERROR", "Internal server error", 500)
            if rule.kind == "operating_limit":
                raise operating_limit(rule.retry_after)
            if rule.kind == "error":
                raise RestError(rule.code, "scripted", rule.status)
            if rule.kind == "slow":
                delay += rule.seconds
            if rule.kind == "insert":
                self.insert(name, rule.rows)
        return delay

    def in_no_order(self, rows: Iterable[T]) -> list[T]:
        """For answers that come whole and whose documentation names no order: another one each time."""
        mixed = list(rows)
        self._chance.shuffle(mixed)
        return mixed

    def one_time_token(self, file: int) -> str:
        self._tokens_given += 1
        token = f"im|{hashlib.sha256(f'{self._tokens_given}:{file}'.encode()).hexdigest()[:32]}"
        self._tokens[token] = file
        return token

    def spend_token(self, token: str) -> int:
        """The file it stands for, once; 0 afterwards."""
        return self._tokens.pop(token, 0)

    def insert(self, method: str, rows: int) -> None:
        """Let rows appear in what the method lists, as on a portal where people keep working."""
        grow(self.company, self.clock.now(), method, rows)

    def mutate(self, seed: int, days: int = 1, share: float = SHARE, without: Iterable[str] = ()) -> dict[str, Any]:
        """Days of work in every stream, by the seed: what was created, changed, deleted and hidden, and what of it no
        date tells. A clock that can be moved moves with the days; on a running one all of it happens now."""
        start, moments = self.clock.now(), self.company.moments
        day_s = DAY if isinstance(self.clock, ManualClock) else 0.0
        report = mutate(
            self.company,
            start,
            seed=seed,
            days=days,
            share=share,
            owners=self.webhooks,
            without=list(without),
            day_s=day_s,
        )
        if isinstance(self.clock, ManualClock):
            self.clock.advance(days * DAY)
        return {"from": moments.iso(start), "to": moments.iso(self.clock.now()), **report.to_json()}

    def _import_method(self, name: str) -> Method | None:
        if not self.has_module or not self._import_name.fullmatch(name):
            return None

        def call(context: Context, _: Params) -> Result:
            """The module looks at nothing but the body, and admits only administrators."""
            if not context.caller.admin:
                raise RestError("ACCESS_DENIED", "Only an administrator of the box may import.", 403)
            return Result(self._import(name, *body_of(context.sent)))

        return Method(name, (IMPORT,), call, reads_body=True)

    def _import(self, name: str, body: Params, size: int) -> dict[str, Any]:
        items = body.get("items")
        if name.endswith(".batch") and isinstance(items, list) and self.faults.rules:
            self._strike_items(name, [str(item.get("key")) for item in items if isinstance(item, dict)])
        return self.imports.handle(name, body, size)

    def _strike_items(self, name: str, keys: list[str]) -> None:
        for key in keys:
            error = self.faults.item_error(name, key)
            if error:
                self.stats.faults["item"] += 1
                self.imports.fail_item(glob.escape(key), error["code"], retry=error["retry"])

    def _secret(self, user: int) -> str:
        return hashlib.sha256(f"{self.company.plan.seed}:{user}:{self.is_box}".encode()).hexdigest()[:16]
