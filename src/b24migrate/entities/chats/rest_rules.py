"""Rules: data of chats and messages that a box does not keep without the import module."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from b24migrate.entities.chats import rest_import
from b24migrate.messages import say
from b24migrate.model.fidelity import EMPTY, KEY, Draft, Keeping, Rule
from b24migrate.targets.rest.box import Box
from b24migrate.targets.rest.journal import Journal, is_marked
from b24migrate.targets.rest.writer import CUT, LINE, LONGEST, OLD, PICTURE, QUOTED, TODAY, UNEDITED

STAMPED = say("reason.rest_chat_stamp")
IMPORTED = say("reason.rest_chat_imported")
NOISE = say("reason.rest_chat_noise")
FINISHED = say("reason.rest_chat_finished")
DESCRIBED = say("reason.rest_chat_described")
LATER = say("reason.rest_chat_later")
SEVERAL = say("reason.rest_chat_files")
MESSAGES = "chat_messages"
KINDS = ("chat", "open")
SET_ONCE = ("description", "owner", "manager_list")
UNCHANGED = "unchanged"  # the mark of a chat's field whose later change the box did not accept
LOST, APPROXIMATED, TRANSFORMED = Keeping.LOST, Keeping.APPROXIMATED, Keeping.TRANSFORMED


def has_colour(draft: Draft) -> bool:
    """Of one that the box may happen to choose as well."""
    return bool(draft.get("color"))


def chat_rules(box: Box) -> Sequence[Rule]:
    imports = rest_import.rights(box).granted

    def is_unchanged(name: str, draft: Draft) -> bool:
        return is_marked(box, UNCHANGED, name, str(draft.get(KEY)))

    def without_us(draft: Draft) -> bool:
        return not any(map(box.is_owner, draft.get("users") or ()))

    said = (
        Rule("chats", "", TRANSFORMED, FINISHED, lambda _: True)
        if imports
        else Rule("chats", "", TRANSFORMED, DESCRIBED, lambda draft: bool(draft.get("description")))
    )
    return [
        Rule(
            "chats",
            "type",
            APPROXIMATED,
            say("reason.rest_chat_kinds"),
            lambda draft: draft.get("type") not in KINDS,
        ),
        Rule("chats", "users", APPROXIMATED, say("reason.rest_chat_owner"), without_us),
        Rule(
            "chats",
            "name",
            TRANSFORMED,
            say("reason.rest_chat_unnamed"),
            lambda draft: not draft.get("name"),
        ),
        said,
        *(Rule("chats", name, APPROXIMATED, LATER, partial(is_unchanged, name)) for name in SET_ONCE),
        Rule("chats", "date_create", LOST, TODAY),
        Rule("chats", "color", LOST, say("reason.rest_chat_colour"), running=lambda: has_colour),
        Rule("chats", "avatar", TRANSFORMED, PICTURE),
        *(
            Rule(
                "chats", name, TRANSFORMED, IMPORTED, partial(is_present if name == "entity_type" else is_filled, name)
            )
            if imports
            else Rule("chats", name, TRANSFORMED, STAMPED, partial(is_present, name))
            for name in ("entity_type", "entity_id")
        ),
    ]


def is_present(name: str, draft: Draft) -> bool:
    return name in draft


def is_filled(name: str, draft: Draft) -> bool:
    return draft.get(name) not in EMPTY


def message_rules(box: Box) -> Sequence[Rule]:
    imports = rest_import.rights(box).granted

    def quoted(draft: Draft) -> bool:
        return not imports or is_quoted(box, draft)

    def by_another(draft: Draft) -> bool:
        another = str(draft.get("author_id") or "0") == "0" or not box.is_owner(draft["author_id"])
        return another and quoted(draft)

    def is_long(draft: Draft) -> bool:
        return len(str(draft.get("text") or "")) + (LINE if quoted(draft) else 0) > LONGEST

    def is_old(draft: Draft) -> bool:
        return is_marked(box, UNEDITED, MESSAGES, str(draft.get(KEY)))

    def has_several(draft: Draft) -> bool:
        return len(draft.get("files") or ()) > 1 and not quoted(draft)

    return [
        Rule(MESSAGES, "text", LOST, CUT, is_long),
        Rule(MESSAGES, "text", LOST, OLD, is_old),
        Rule(MESSAGES, "text", TRANSFORMED, QUOTED, quoted),
        Rule(MESSAGES, "author_id", TRANSFORMED, QUOTED, by_another),
        Rule(MESSAGES, "date", TRANSFORMED, QUOTED, lambda draft: draft.get("date") not in EMPTY and quoted(draft)),
        Rule(MESSAGES, "files", TRANSFORMED, SEVERAL, has_several),
        Rule(MESSAGES, "", TRANSFORMED, NOISE, quoted),
        Rule(
            MESSAGES,
            "params",
            LOST,
            say("reason.rest_marks"),
            lambda draft: draft.get("params") not in EMPTY,
        ),
        Rule(MESSAGES, "reactions", LOST, say("reason.rest_reactions")),
    ]


def is_quoted(box: Box, draft: Draft) -> bool:
    """On a box that imports: what came, or comes, to a chat whose import is over, or that was never imported."""
    key = str(draft.get(KEY))
    if is_marked(box, rest_import.QUOTED, MESSAGES, key):
        return True
    chat = f"source:chat:{draft.get('chat_id')}"
    known = Journal(box.store).find("chats", [chat]).get(chat)
    if known is None:
        return False
    if not rest_import.was_imported(box, chat):
        return True
    over = is_marked(box, rest_import.COMMITTED, "numbers", known.target_id)
    return over and not Journal(box.store).find(MESSAGES, [key])
