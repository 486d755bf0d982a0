"""A tiny host of functions: what Azure does with messages, requests and the timer, around the real entry points.

An instance is a process of the function app: it has an application of its own, and it can die at any call of a port,
after which none of its calls does anything any more.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import count
from random import Random
from typing import Any, NamedTuple, Protocol

import azure.functions as func
from azure.functions.queue import QueueMessage
from tests.engine.world import LeapingClock

from b24migrate.app import App
from b24migrate.engine import plan
from b24migrate.functions import AppCache
from b24migrate.functions.triggers import blueprint
from b24migrate.ports import Queue, Store

Json = Any
Open = Callable[[], AbstractContextManager[App]]
MOST_DELIVERIES = 3
LONGEST_LIFE = 30  # calls of ports, of an instance that dies
LEAP_S = 400.0  # beyond every lease, and beyond the time after which a message counts as lost


class Died(BaseException):
    """The process is gone."""


@dataclass
class Life:
    """How many more calls of its ports an instance will see the end of; None: all."""

    left: int | None = None

    def spend(self) -> None:
        if self.left is None:
            return
        if self.left <= 0:
            raise Died
        self.left -= 1


class Mortal:
    """A port of an instance that may die before any call, and then stays dead."""

    def __init__(self, port: object, life: Life) -> None:
        self._port = port
        self._life = life

    def __getattr__(self, name: str) -> Json:
        found = getattr(self._port, name)
        if not callable(found):
            return found

        def call(*args: Json, **named: Json) -> Json:
            self._life.spend()
            return found(*args, **named)

        return call


class Instance:
    def __init__(self, opens: Open) -> None:
        self.life = Life()
        self.opened = 0
        self.keeper = AppCache(lambda: self._opened(opens))
        app = func.FunctionApp(http_auth_level=func.AuthLevel.FUNCTION)
        app.register_functions(blueprint(self.keeper))
        self.functions = {one.get_function_name(): one.get_user_function() for one in app.get_functions()}

    @contextmanager
    def _opened(self, opens: Open) -> Iterator[App]:
        with opens() as app:
            self.opened += 1
            queue: Json = Mortal(app.context.queue, self.life)
            store: Json = Mortal(app.context.store, self.life)
            yield app.with_context(replace(app.context, queue=queue, store=store))

    def ask(self, name: str, body: Json = None, **route: str) -> tuple[int, Json]:
        sent = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        method = "GET" if name in ("status", "errors") else "POST"
        request = func.HttpRequest(method, f"https://host/api/{name}", route_params=route, body=sent)
        reply = self.functions[name](req=request)
        assert reply.mimetype == "application/json"
        return reply.status_code, json.loads(reply.get_body())

    def deliver(self, body: bytes, deliveries: int = 1, *, to: str = "work") -> None:
        message: Json = QueueMessage  # its constructor has no types
        self.functions[to](message=message(id="1", body=body, dequeue_count=deliveries, pop_receipt="r"))

    def tick(self) -> None:
        self.functions["tend"](timer=func.timer.TimerRequest())

    def close(self) -> None:
        self.life.left = None
        self.keeper.close()


class Letter(NamedTuple):
    """A message as the host received it."""

    body: bytes
    deliveries: int
    id: str
    receipt: str = ""


class Mailbox(Protocol):
    """The queue `work` and its poison queue, and `dlq` where there is one."""

    dlq: Json

    def receive(self) -> list[Letter]: ...

    def delete(self, letter: Letter) -> None: ...

    def give_back(self, letter: Letter) -> None: ...

    def poison(self, letter: Letter) -> None: ...

    def poisoned(self) -> list[Letter]: ...


@dataclass
class TableMailbox:
    """For a store without messages: one for every job that can be taken."""

    queue: Queue
    clock: LeapingClock
    dlq: Json = None
    counts: dict[str, int] = field(default_factory=dict)
    poison_: list[Letter] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=count)

    def receive(self) -> list[Letter]:
        now = self.clock.now()
        visible = [one.job.id for one in self.queue.jobs() if one.visible_at is None or one.visible_at <= now]
        for job_id in visible:
            self.counts[job_id] = self.counts.get(job_id, 0) + 1
        return [Letter(json.dumps({"job": one}).encode(), self.counts[one], one) for one in visible[:8]]

    def delete(self, letter: Letter) -> None:
        self.counts.pop(letter.id, None)

    def give_back(self, letter: Letter) -> None: ...

    def poison(self, letter: Letter) -> None:
        self.delete(letter)
        self.poison_.append(letter)

    def poisoned(self) -> list[Letter]:
        found, self.poison_ = self.poison_, []
        return found


@dataclass
class Host:
    """Calls the functions until no run is under way. Of the messages some come twice, and some instances die."""

    opens: Open
    store: Store
    mailbox: Mailbox
    clock: LeapingClock
    dying: float = 0.0  # how many of the deliveries an instance does not survive
    doubling: float = 0.0
    chance: Random = field(default_factory=lambda: Random(7))
    instances: int = 2
    deaths: int = 0
    bugs: list[BaseException] = field(default_factory=list)
    deliveries: int = 0
    died_over: Counter[bytes] = field(default_factory=Counter)
    _living: list[Instance] = field(default_factory=list)

    def __enter__(self) -> Host:
        self._living = [Instance(self.opens) for _ in range(self.instances)]
        return self

    def __exit__(self, *_: object) -> None:
        for one in self._living:
            one.close()

    @property
    def one(self) -> Instance:
        return self._living[0]

    def ask(self, name: str, body: Json = None, **route: str) -> tuple[int, Json]:
        return self.one.ask(name, body, **route)

    def run(self, *, most: int = 3000) -> Mapping[str, Json]:
        """Until the run has ended or stopped; returns the status."""
        quiet = 0
        with ThreadPoolExecutor(self.instances) as pool:
            while self._under_way():
                assert self.deliveries < most, "the run does not come to its end"
                assert quiet < 20, "nothing happens any more"
                letters = self.mailbox.receive()
                quiet = 0 if letters else quiet + 1
                if not letters:
                    self.clock.sleep(LEAP_S)
                    self.one.tick()
                for start in range(0, len(letters), self.instances):
                    list(pool.map(self._deliver, letters[start : start + self.instances], range(self.instances)))
                for letter in self.mailbox.poisoned():
                    self.one.deliver(letter.body, letter.deliveries, to="bury")
        status: Mapping[str, Json] = self.ask("status")[1]
        return status

    def _under_way(self) -> bool:
        run = plan.current(self.store)
        return run is not None and run.under_way

    def state(self) -> str:
        return str(self.ask("status")[1]["state"])

    def _deliver(self, letter: Letter, place: int) -> None:
        self.deliveries += 1
        instance = self._living[place]
        # Three deaths in one job make it poison, for any reason; another test covers that.
        mortal = self.chance.random() < self.dying and self.died_over[letter.body] < MOST_DELIVERIES - 1
        instance.life.left = self.chance.randrange(LONGEST_LIFE) if mortal else None
        try:
            instance.deliver(letter.body, letter.deliveries)
            if self.chance.random() < self.doubling:
                instance.deliver(letter.body, letter.deliveries)
        except Died:
            self.died_over[letter.body] += 1
            self._replace(place)
            self._failed(letter)
        except Exception as bug:  # noqa: BLE001 (what the host does with any)
            self.bugs.append(bug)
            self._failed(letter)
        else:
            instance.life.left = None
            self.mailbox.delete(letter)

    def _replace(self, place: int) -> None:
        self.deaths += 1
        dead, self._living[place] = self._living[place], Instance(self.opens)
        with suppress(Died):
            dead.close()

    def _failed(self, letter: Letter) -> None:
        if letter.deliveries >= MOST_DELIVERIES:
            self.mailbox.poison(letter)
        else:
            self.mailbox.give_back(letter)
