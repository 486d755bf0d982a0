"""The options of the command line."""

import argparse
from typing import Any

from b24sim.company.plan import (
    BY_USERS,
    CODE_TEMPLATES,
    LONG_TEXT,
    LONGEST_TEXT,
    SMALLEST_WITH_CODE,
    SMALLEST_WITH_LONGEST,
    TASKS_PER_USER,
)
from b24sim.habits import ASCENDING, DESCENDING, INSTANT, NO_ORDER, SHIFTED, Habits
from b24sim.like import switches
from b24sim.limits import BATCH, INNER
from b24sim.message_habits import ORDERS, PAGES
from b24sim.native.box_habits import FORMATS, BoxHabits
from b24sim.native.task_habits import CHAT_MOVES, CHECKLISTS, COUNTS, TaskHabits
from b24sim.portal import SMALL_COST_S
from b24sim.portal_setup import sizes

EXAMPLES = """examples:
  b24sim --records 10000 --seed 7                     a cloud portal with ten thousand records
  b24sim --role box                                   an empty box that serves import.*
  b24sim --users 500 --cost user.get=0.3 --speed 60   an hour of limits in a minute
  b24sim --faults '[{"method": "user.get", "kind": "reset", "every": 10}]'

When the portal is up, one line of JSON says where: url, webhooks, control.
Under control: GET stats, GET dump?stream=users, POST mutate, POST faults, POST reset, POST clock;
POST mutate {"days": 2, "seed": 7, "share": 0.01} is two days of work in every stream;
on a box GET native?kind=users, which tells what was written by its own methods, and
POST application {"expire": true}, after which the token of --application is taken no more."""


class Parser(argparse.ArgumentParser):
    """--like takes the defaults from a probed portal; explicit options win."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        first = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
        first.add_argument("--like")
        like = first.parse_known_args(args)[0].like
        if like:
            try:
                self.set_defaults(**switches(like, {action.dest: action.choices for action in self._actions}))
            except ValueError as complaint:
                self.error(str(complaint))
        return super().parse_known_args(args, namespace)


def parser() -> argparse.ArgumentParser:
    """Every option, in groups of a purpose."""
    root = Parser(
        "b24sim",
        description="A Bitrix24 portal that never existed: the REST API of a cloud portal or a box over HTTP.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _where(root.add_argument_group("where"))
    _company(root.add_argument_group("company"))
    _limits(root.add_argument_group("limits and time"))
    access = root.add_argument_group("access and misfortune")
    _access(access)
    _lists(access)
    _box(access)
    _methods(access)
    _habits(root.add_argument_group("differences between portals"))
    return root


def _where(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--role", choices=("cloud", "box"), default="cloud", help="cloud has limits, box has import.*")
    group.add_argument("--host", default="127.0.0.1")
    group.add_argument("--port", type=int, default=0, help="0 takes a free one")
    group.add_argument(
        "--tls", action="store_true", help="HTTPS with a throw-away certificate; the ready line names its CA file"
    )
    group.add_argument(
        "--moved", action="store_true", help="a second port that answers 302 to this one, as a renamed portal does"
    )


def _company(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--seed", type=int, default=1, help="the same seed grows the same company")
    group.add_argument(
        "--records",
        type=int,
        help="size of the company without CRM, feed and workflows, 10 to 1000000, sensibly divided",
    )
    for name in ("users", "departments", "groups", "chats", "messages", "files"):
        group.add_argument(f"--{name}", type=int, help=f"exactly so many {name}")
    for name in ("companies", "contacts", "deals"):
        group.add_argument(f"--{name}", type=int, help=f"exactly so many {name} (default: by the number of users)")
    for name in ("leads", "quotes", "invoices"):
        group.add_argument(f"--{name}", type=int, help=f"exactly so many {name} (default: none)")
    group.add_argument(
        "--large-files", type=sizes, metavar="BYTES", help="sizes of the first chat files, e.g. 1e9,157286400"
    )
    group.add_argument("--products", type=int, help="products of the catalog, without variations (default: none)")
    group.add_argument("--recurring", type=int, help="schedules of recurring deals (default: none)")
    group.add_argument("--requisites", type=int, help="company details of companies and contacts (default: none)")
    group.add_argument("--smart-types", type=int, help="smart processes (default 2)")
    group.add_argument("--smart-items", type=int, help="items of each smart process (default: as many as users)")
    group.add_argument(
        "--tasks",
        type=int,
        nargs="?",
        const=BY_USERS,
        help=f"so many tasks, {TASKS_PER_USER} for every user where no number is given (default: none)",
    )
    for name in ("calls", "crm-activities", "crm-comments", "log-entries"):
        group.add_argument(f"--{name}", type=int, help=f"exactly so many {name} (default: none)")
    group.add_argument(
        "--crm-notes", action="store_true", default=None, help="notes beside some comments and activities"
    )
    group.add_argument(
        "--new-card",
        action="store_true",
        default=None,
        help="all tasks are of the new card, whose comments are in chats (default: some of each kind)",
    )
    group.add_argument("--posts", type=int, help="posts of the feed (default: twice as many as users)")
    group.add_argument("--comments-per-post", type=int, help="comments of a post on the average (default 3)")
    group.add_argument("--templates", type=int, help="workflow templates (default: by the number of users)")
    group.add_argument(
        "--code-templates",
        type=int,
        help=f"of these so many run PHP or a vendor's code (default {CODE_TEMPLATES}, none below {SMALLEST_WITH_CODE}"
        " users)",
    )
    group.add_argument(
        "--bad-users", type=int, help="users that cannot be imported (default: 1.5 %%, none below 70 users)"
    )
    group.add_argument("--bots", type=int, help="bots that write in chats; user.get never shows them (default 0)")
    group.add_argument("--foreign-chats", type=float, help="share of chats the administrator is not in (default 0.1)")
    group.add_argument("--timezone", default="Europe/Moscow", help="the server's time zone")
    group.add_argument(
        "--owner-zone",
        metavar="ZONE",
        help="time zone of everybody who has set none, webhook owners too (default: the server's)",
    )
    group.add_argument(
        "--long-text",
        type=int,
        metavar="N",
        help=f"characters of the longest comment of a deal (default {LONGEST_TEXT}, below {SMALLEST_WITH_LONGEST}"
        f" users {LONG_TEXT})",
    )


def _limits(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--limits", choices=("on", "off"), help="default: on for a cloud, off for a box")
    group.add_argument("--requests-per-second", type=float, default=2.0, help="how fast the bucket drains (default 2)")
    group.add_argument("--bucket", type=float, default=50.0, help="how many requests it holds (default 50)")
    group.add_argument(
        "--operating", type=float, help="seconds of execution per method in ten minutes (480; a box 420)"
    )
    group.add_argument(
        "--billing",
        choices=(BATCH, INNER),
        default=BATCH,
        help="what commands of a batch are charged to: batch (default) or, as on older portals, their own methods",
    )
    group.add_argument(
        "--cost", action="append", default=[], metavar="METHOD=SECONDS", help="operating cost of a call; repeatable"
    )
    group.add_argument("--default-cost", type=float, default=SMALL_COST_S, help="cost of the other methods")
    group.add_argument("--cost-takes-time", action="store_true", help="a call also lasts as long as it costs")
    group.add_argument("--latency", type=float, default=0.0, help="seconds added to every call, on the portal's clock")
    group.add_argument("--speed", type=float, default=1.0, metavar="K", help="the portal's clock runs K times faster")


def _access(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--webhooks", default="1", metavar="IDS", help="owners of webhooks, e.g. 1,5,9")
    group.add_argument("--admins", default="1", metavar="IDS", help="which users are administrators")
    group.add_argument("--secret", help="one secret for all webhooks, instead of those grown from the seed")
    group.add_argument(
        "--scopes", metavar="NAMES", help="what the webhooks may use, e.g. user,im (default: everything)"
    )
    group.add_argument(
        "--scopes-of",
        action="append",
        default=[],
        metavar="ID=NAMES",
        help="what that owner's webhook may use instead; repeatable",
    )


def _lists(group: argparse._ArgumentGroup) -> None:
    """How lists of the feed and of chats are paged, ordered and named."""
    group.add_argument(
        "--listing-chats", action="store_true", help="im.chat.get lists chats, and im.chat.message.list exists"
    )
    group.add_argument(
        "--old-feed", action="store_true", help="log.blogpost.get ignores LOG_DATE_*, FIRST_ID, LAST_ID and LIMIT"
    )
    group.add_argument(
        "--feed-cursor", choices=("entry", "post"), default="entry", help="what FIRST_ID of log.blogpost.get refers to"
    )
    group.add_argument(
        "--feed-order",
        choices=("newest", "nearest", "bumped"),
        default="newest",
        help="which posts behind FIRST_ID or before LAST_ID of log.blogpost.get come first",
    )
    group.add_argument(
        "--comments-name",
        choices=("entry", "post"),
        help="feed comments have log_id or post_id (default: entry; a box: post)",
    )
    group.add_argument(
        "--comment-keys",
        choices=("upper", "lower"),
        default="upper",
        help="log.blogcomment.user.get answers COMMENTS and FILES, or comments and files",
    )
    group.add_argument(
        "--first-id",
        choices=("newest", "plain"),
        default="newest",
        help="im.dialog.messages.get with FIRST_ID=0 also returns the newest messages, or only the oldest",
    )
    group.add_argument(
        "--message-order", choices=ORDERS, default="newest", help="order of messages in a page below LAST_ID"
    )
    group.add_argument(
        "--message-pages",
        choices=PAGES,
        default="full",
        help="short: fewer than LIMIT in the middle; unread: adds unread messages; stuck: always the newest page",
    )
    group.add_argument(
        "--message-count",
        choices=("drifting", "exact"),
        default="drifting",
        help="whether message_count of a chat is exact",
    )
    group.add_argument(
        "--closed-task-chats",
        action="store_true",
        help="administrators cannot read chats of tasks they have no part in",
    )


def _box(group: argparse._ArgumentGroup) -> None:
    """The options of a box and of its own methods."""
    group.add_argument(
        "--application",
        action="store_true",
        help="a local application of user 1 on a box; the ready line has its keys and tokens",
    )
    group.add_argument(
        "--activities", metavar="NAMES", default="", help="activities of applications that a box has, e.g. rest_1c"
    )
    group.add_argument(
        "--largest-file",
        type=float,
        metavar="BYTES",
        help="largest file that import.* of a box accepts (default 1 GiB)",
    )
    group.add_argument("--no-module", action="store_true", help="a box without import.*, as every stock box is")
    group.add_argument(
        "--task-chats", action="store_true", help="comments written to tasks of a box become messages of their chats"
    )
    group.add_argument(
        "--no-task-dates", action="store_true", help="a box makes every task now, whatever dates are sent"
    )


def _methods(group: argparse._ArgumentGroup) -> None:
    """Which methods there are, and which calls fail."""
    group.add_argument(
        "--old-task-lists",
        action="store_true",
        help="task.item.list and task.item.getdata name the chat of a task (not documented)",
    )
    group.add_argument("--without", metavar="METHODS", default="", help="methods it lacks, e.g. crm.item.list,tasks.*")
    group.add_argument(
        "--available-by-scope",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="isAvailable of method.get is true for tasks.* with the scope task, as on older portals",
    )
    group.add_argument(
        "--stale-methods", metavar="METHODS", default="", help="methods that exist but that method.get denies"
    )
    group.add_argument(
        "--many-owners",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="crm.item.productrow.list accepts a list of owners",
    )
    group.add_argument("--faults", metavar="FILE|JSON", help="a list of fault rules")


def _habits(group: argparse._ArgumentGroup) -> None:
    """Behaviour that the documentation does not define. The defaults are the worst case."""
    worst = Habits()
    group.add_argument(
        "--like", metavar="FILE", help="behave like the portal probed with `b24migrate doctor --probe --out FILE`"
    )
    for name, method in (("user", "user.get"), ("crm", "crm.item.list")):
        group.add_argument(
            f"--{name}-order",
            choices=(NO_ORDER, ASCENDING, DESCENDING),
            default=NO_ORDER,
            help=f"default order of {method}",
        )
    others = "user.get, sonet_group.get, crm.type.list and bizproc.*"
    for name, method in (("crm", "crm.item.list"), ("task", "tasks.task.list"), ("other", others)):
        group.add_argument(
            f"--{name}-dates",
            choices=(INSTANT, SHIFTED),
            default=getattr(worst, f"{name}_dates"),
            help=f"how {method} read a time in a filter: as it is, or as the caller's local time",
        )
    group.add_argument(
        "--message-page",
        type=int,
        default=worst.message_page,
        help="largest page of im.dialog.messages.get",
    )
    group.add_argument(
        "--bare-entries",
        action="store_true",
        help="crm.timeline.logmessage.list answers with the list itself and reads `start`, as documented",
    )
    group.add_argument(
        "--list-checklists",
        choices=CHECKLISTS,
        default=TaskHabits().list_checklists,
        help="what tasks.task.list does with CHECKLIST in select: nothing, the items, an empty list for every task",
    )
    group.add_argument(
        "--comment-counts",
        choices=COUNTS,
        default=TaskHabits().comment_counts,
        help="which comments COMMENTS_COUNT of tasks.task.list counts; absent: the list has no count and no topic",
    )
    group.add_argument(
        "--task-chat-moves",
        choices=CHAT_MOVES,
        default=TaskHabits().chat_moves,
        help="what a message in the chat of a task moves: nothing, COMMENTS_COUNT, or also ACTIVITY_DATE",
    )
    box = BoxHabits()
    group.add_argument(
        "--date-format", choices=tuple(FORMATS), default=box.date_format, help="how the site of a box writes a day"
    )
    group.add_argument(
        "--push-server",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="without one a box changes and deletes no message",
    )
    group.add_argument(
        "--node-ids",
        action=argparse.BooleanOptionalAction,
        default=box.node_ids,
        help="department.add answers the number of a node of the company structure",
    )
    group.add_argument(
        "--closes-today",
        action=argparse.BooleanOptionalAction,
        default=box.closes_today,
        help="a CRM record that comes into a final stage is closed today",
    )
    group.add_argument("--recent-page", type=int, default=worst.recent_page, help="largest page of im.recent.list")
