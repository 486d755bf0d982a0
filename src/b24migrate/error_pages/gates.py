"""Gates: prerequisites by name. ENTITY stands for users, groups, crm_deals …"""

from __future__ import annotations

from b24migrate.error_pages.page import Again, Chapter, Page

CHAPTER = Chapter(
    "Gates",
    "What must be there before a mini-task begins. An unmet gate stops it with exit code 3 and says what is missing.",
    (
        Page(
            "infra.storage.ready",
            "The store is not ready",
            Again.STOPS,
            "The store cannot be opened or written.",
            "Do what the message says about the store, then run the same command again.",
        ),
        Page(
            "analysis.completed",
            "The source has not been looked at",
            Again.STOPS,
            "The source has not been looked at yet.",
            "Run `b24migrate doctor`: it looks at both portals and remembers what it saw.",
        ),
        Page(
            "mapping.done",
            "The mapping is not made",
            Again.STOPS,
            "The mapping is not made yet.",
            "Run `b24migrate doctor`, then try again.",
        ),
        Page(
            "fidelity.accepted",
            "Nobody has accepted what the box does not keep",
            Again.STOPS,
            "The target says that it does not keep some fields as they are, and nobody has accepted that yet, or the"
            " list has grown since. Nothing was written to it.",
            "See `b24migrate fidelity`. Accept it there with `--accept`, on the dashboard, or with"
            " `b24migrate run --accept-fidelity`.",
        ),
        Page(
            "auth.cloud.ENTITY",
            "The webhook may not read this",
            Again.STOPS,
            "The source webhook may not read the entity: a scope is missing, or its owner is no administrator.",
            "Tick the scope that is named in the webhook's settings on the source, or let an administrator create the"
            " webhook; then run the same command again.",
            like="auth.cloud*",
        ),
        Page(
            "auth.target.import.ENTITY",
            "The box does not import this",
            Again.STOPS,
            "The target does not import the entity: the import module is missing or too old, or the webhook on the box"
            " may not call it.",
            "Install or update the import module on the box, tick `import` in the webhook's settings there; then run"
            " the same command again.",
            like="auth.target*",
        ),
        Page(
            "users.import.completed",
            "Users come first",
            Again.STOPS,
            "Users are not imported yet, or fewer of them than run.user_coverage wants. Nearly everything refers to"
            " users, so it waits for them.",
            "Run `b24migrate run --entity users`; see `b24migrate errors --stream users` and mend them, or lower"
            " run.user_coverage in the configuration.",
        ),
        Page(
            "ENTITY.import.completed",
            "Something else comes first",
            Again.STOPS,
            "What the entity refers to is not imported yet.",
            "Run `b24migrate run --entity` with the entity named by the gate, or leave out `--entity`.",
            like="*.import.completed",
        ),
        Page(
            "ENTITY.read",
            "Nothing has been read yet",
            Again.STOPS,
            "Nothing of the entity (or no custom field) has been read yet, so there is nothing to write out.",
            "Read it first: `b24migrate get` with the name of the entity.",
            like="*.read",
        ),
    ),
)
