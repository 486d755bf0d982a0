"""What a box does not keep of chats and their messages when its own methods take them."""

from __future__ import annotations

from collections.abc import Sequence

from b24migrate.fidelity import EMPTY, Draft, Keeping, Rule
from b24migrate.target.rest.box import Box
from b24migrate.target.rest.marks import is_marked
from b24migrate.target.rest.reasons import CUT, LINE, LONGEST, OLD, PICTURE, QUOTED, TODAY, UNEDITED

STAMPED = "The chat is about the source's chat, whose number is kept there, so that nothing arrives twice."
NOISE = "The box notifies the participants, and the message counts as unread."
DESCRIBED = "The box also writes the description into the chat, as a message of the webhook owner."
KINDS = ("chat", "open")
LOST, APPROXIMATED, TRANSFORMED = Keeping.LOST, Keeping.APPROXIMATED, Keeping.TRANSFORMED


def coloured(draft: Draft) -> bool:
    """Of one that the box may happen to choose as well."""
    return bool(draft.get("color"))


def is_long(draft: Draft) -> bool:
    return len(str(draft.get("text") or "")) + LINE > LONGEST


def of_chats(box: Box) -> Sequence[Rule]:
    def without_us(draft: Draft) -> bool:
        return not any(map(box.is_owner, draft.get("users") or ()))

    return [
        Rule(
            "chats",
            "type",
            APPROXIMATED,
            "Private dialogs and channels arrive as chats of several people: the box's own methods make no others.",
            lambda draft: draft.get("type") not in KINDS,
        ),
        Rule("chats", "users", APPROXIMATED, "The owner of the webhook takes part in every chat.", without_us),
        Rule(
            "chats",
            "name",
            TRANSFORMED,
            "A chat without a name is called by its people.",
            lambda draft: not draft.get("name"),
        ),
        Rule("chats", "", TRANSFORMED, DESCRIBED, lambda draft: bool(draft.get("description"))),
        Rule("chats", "date_create", LOST, TODAY),
        Rule("chats", "color", LOST, "The box gives every chat a colour of its own.", running=lambda: coloured),
        Rule("chats", "avatar", TRANSFORMED, PICTURE),
        Rule("chats", "entity_type", TRANSFORMED, STAMPED, lambda draft: "entity_type" in draft),
        Rule("chats", "entity_id", TRANSFORMED, STAMPED, lambda draft: "entity_id" in draft),
    ]


def of_messages(box: Box) -> Sequence[Rule]:
    def by_another(draft: Draft) -> bool:
        return str(draft.get("author_id") or "0") == "0" or not box.is_owner(draft["author_id"])

    return [
        Rule("chat_messages", "text", LOST, CUT, is_long),
        Rule("chat_messages", "text", LOST, OLD, lambda draft: is_marked(box, UNEDITED, "chat_messages", draft)),
        Rule("chat_messages", "text", TRANSFORMED, QUOTED, lambda _: True),
        Rule("chat_messages", "author_id", TRANSFORMED, QUOTED, by_another),
        Rule("chat_messages", "date", TRANSFORMED, QUOTED),
        Rule(
            "chat_messages",
            "params",
            LOST,
            "Marks of messages cannot be set.",
            lambda draft: draft.get("params") not in EMPTY,
        ),
        Rule("chat_messages", "", TRANSFORMED, NOISE, lambda _: True),
        Rule("chat_messages", "reactions", LOST, "Nobody can react in the name of others."),
    ]
