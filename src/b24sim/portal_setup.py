"""The portal that the options of the command line describe."""

import argparse
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from b24sim.clock import RunningClock
from b24sim.company.company import Company
from b24sim.company.plan import (
    Plan,
    changed,
    sized,
)
from b24sim.faults import Faults
from b24sim.habits import Habits
from b24sim.imports import Limits
from b24sim.limits import LeakyBucket, Operating
from b24sim.message_habits import MessageHabits
from b24sim.methods.feed import FeedHabits
from b24sim.methods.system import ALL_SCOPES, MethodHabits
from b24sim.native.applications import HOUR_S, LocalApplication
from b24sim.native.box_habits import BoxHabits
from b24sim.native.task_habits import TaskHabits
from b24sim.portal import Costs, Portal

CLOUD_OPERATING_S = 480.0
BOX_OPERATING_S = 420.0


def portal_from(options: argparse.Namespace) -> Portal:
    """The portal that the options describe. A bad value raises ValueError with a message for people."""
    box = options.role == "box"
    limited = options.limits == "on" or (options.limits is None and not box)
    operating = options.operating or (BOX_OPERATING_S if box else CLOUD_OPERATING_S)
    return Portal(
        Company(_plan(options)),
        role=options.role,
        clock=RunningClock(options.speed),
        scopes=options.scopes.split(",") if options.scopes else ALL_SCOPES,
        scopes_of=_scopes_of(options.scopes_of),
        webhooks=_numbers(options.webhooks),
        admins=_numbers(options.admins),
        secret=options.secret,
        bucket=LeakyBucket(options.requests_per_second, options.bucket) if limited and not box else None,
        operating=Operating(operating, options.billing) if limited else None,
        costs=Costs(_costs(options.cost), options.default_cost, options.cost_takes_time),
        faults=Faults(_script(options.faults), options.seed),
        listing_chats=options.listing_chats,
        without=options.without.split(","),
        many_owners=options.many_owners,
        feed_habits=FeedHabits(
            old=options.old_feed,
            cursor_is_post=options.feed_cursor == "post",
            comments_name_post=(options.comments_name or ("post" if box else "entry")) == "post",
            lower_keys=options.comment_keys == "lower",
            order=options.feed_order,
        ),
        message_habits=MessageHabits(
            options.message_order,
            options.message_pages,
            options.first_id == "plain",
            options.message_count == "exact",
        ),
        habits=Habits(**{one.name: getattr(options, one.name) for one in fields(Habits)}),
        latency_s=options.latency,
        admins_read_task_chats=not options.closed_task_chats,
        task_habits=TaskHabits(
            options.task_chats,
            not options.no_task_dates,
            old_lists_name_chats=options.old_task_lists,
            list_checklists=options.list_checklists,
            comment_counts=options.comment_counts,
            chat_moves=options.task_chat_moves,
        ),
        method_habits=MethodHabits(
            options.available_by_scope, frozenset(name for name in options.stale_methods.split(",") if name)
        ),
        box_habits=BoxHabits(
            date_format=options.date_format,
            push_server=options.push_server,
            node_ids=options.node_ids,
            closes_today=options.closes_today,
        ),
        module=not options.no_module,
        import_limits=Limits(file_bytes=int(options.largest_file)) if options.largest_file else None,
        # An hour of the caller, however fast the portal's clock runs.
        application=LocalApplication(lifetime_s=HOUR_S * options.speed) if options.application and box else None,
        activities=[name for name in options.activities.split(",") if name],
    )


def _plan(options: argparse.Namespace) -> Plan:
    names = (
        "users",
        "departments",
        "groups",
        "chats",
        "messages",
        "files",
        "large_files",
        "companies",
        "contacts",
        "deals",
        "products",
        "leads",
        "quotes",
        "invoices",
        "smart_types",
        "smart_items",
        "recurring",
        "requisites",
        "tasks",
        "calls",
        "crm_activities",
        "crm_comments",
        "log_entries",
        "crm_notes",
        "new_card",
        "posts",
        "comments_per_post",
        "templates",
        "code_templates",
        "bad_users",
        "bots",
        "foreign_chats",
        "timezone",
        "owner_zone",
        "long_text",
    )
    wishes = {name: getattr(options, name) for name in names}
    if options.role == "box":
        return changed(Plan(1, 1, 0, 0, 0, 0, options.seed, bad_users=0, box=True), **wishes)
    if options.records:
        return sized(options.records, options.seed, **wishes)
    return changed(Plan(seed=options.seed), **wishes)


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",") if part]
    except ValueError:
        raise ValueError(f"{text!r} is not a list of user ids such as 1,5,9") from None


def sizes(text: str) -> tuple[int, ...]:
    return tuple(int(float(part)) for part in text.split(",") if part)


def _scopes_of(entries: list[str]) -> dict[int, list[str]]:
    granted = {}
    for entry in entries:
        owner, _, names = entry.partition("=")
        if not owner.isdigit():
            raise ValueError(f"--scopes-of {entry!r} is not ID=NAMES such as 5=user,im")
        granted[int(owner)] = [name for name in names.split(",") if name]
    return granted


def _costs(entries: list[str]) -> dict[str, float]:
    costs = {}
    for entry in ",".join(entries).split(","):
        method, _, seconds = entry.partition("=")
        if method:
            try:
                costs[method] = float(seconds)
            except ValueError:
                raise ValueError(f"--cost {entry!r} is not METHOD=SECONDS") from None
    return costs


def _script(text: str | None) -> list[dict[str, Any]]:
    if not text:
        return []
    try:
        script = json.loads(text if text.lstrip().startswith(("[", "{")) else Path(text).read_text("utf-8"))
    except (OSError, ValueError) as complaint:
        raise ValueError(f"--faults: {complaint}") from None
    return script if isinstance(script, list) else [script]
