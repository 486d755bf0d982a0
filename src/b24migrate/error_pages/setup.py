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
            "REPORT_NOT_WRITTEN",
            "The report cannot be written",
            Again.STOPS,
            "The folder cannot be written to, or has a file with the name of one of the report's that is no part of an"
            " earlier report.",
            "Choose another folder with --out. With --force such files are replaced; others are never touched.",
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
        Page(
            "UNDO_BUSY",
            "Nothing is taken back now",
            Again.STOPS,
            "`b24migrate undo` does not begin, or does not go on, while somebody imports into the same box.",
            "Let the run end, or `b24migrate pause` it and wait until `run` has ended; then run the same command again."
            " What was taken back by then is new, and comes again with the next run.",
        ),
        Page(
            "UNDO_UNDER_WAY",
            "Imports are being taken back",
            Again.STOPS,
            "Somebody runs `b24migrate undo` on the same store. Until that is at its end no run begins, and nobody else"
            " takes anything back.",
            "Let it end, then run the same command again. One that was killed on another machine counts as"
            " being there for 90 seconds.",
        ),
        Page(
            "UNDO_OTHER_TARGET",
            "The store belongs to another box",
            Again.STOPS,
            "The store was imported into another box than the one that is configured, or behind its address there is"
            " another one by now. That one knows none of the records, and all of them would count as deleted.",
            "Set `target.webhook` to the box that is named. If it is the same box under another address, or one that"
            " was emptied, add `--same-box`.",
        ),
        Page(
            "RUN_PAUSED",
            "The run is paused",
            Again.STOPS,
            "Somebody paused the run, with `b24migrate pause`, on the page, or by a request. Nothing is wrong.",
            "`b24migrate resume` goes on where it stopped; so do the button on the page and the command that began it."
            " Until then no job is begun, and nothing is lost.",
        ),
        Page(
            "NO_RUN",
            "There is no such run",
            Again.STOPS,
            "There is no run that could be paused or gone on with: none was begun yet, or the last one is at its end.",
            "See `b24migrate status`. `b24migrate run` begins one.",
        ),
    ),
)
