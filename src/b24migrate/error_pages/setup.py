"""Codes of the command line and the configuration."""

from __future__ import annotations

from b24migrate.error_pages.page import Again, Chapter, Page

CHAPTER = Chapter(
    "Commands and configuration",
    "What is wrong before anything begins. Nothing was read or written.",
    (
        Page(
            "CONFIGURATION",
            "The configuration is wrong",
            Again.STOPS,
            "A file, a key or a value of the configuration is wrong, or an environment variable sets nothing.",
            "The message names the place and the key: mend it there. `b24migrate init` writes a commented example.",
        ),
        Page(
            "USAGE",
            "No such thing",
            Again.STOPS,
            "The command names something that does not exist.",
            "The message lists what there is. `b24migrate --help` shows the commands.",
        ),
        Page(
            "RUN_UNDER_WAY",
            "Another run is under way",
            Again.STOPS,
            "Another run is under way or just being started on the same store.",
            "Look at `b24migrate status`, and start again when that run is at its end.",
        ),
        Page(
            "RUN_REPLACED",
            "Another run took over",
            Again.STOPS,
            "Another run was begun meanwhile on the same store, and takes the place of this one.",
            "Nothing is lost: look at `b24migrate status`. To go on with what this one wanted, start it again when the"
            " other is at its end.",
        ),
    ),
)
