"""Codes of the dashboard and its API."""

from __future__ import annotations

from b24migrate.error_pages.page import Again, Chapter, Page

CHAPTER = Chapter(
    "The dashboard",
    "Why the dashboard or its API refuses a request, or why what was begun there has ended.",
    (
        Page(
            "DASHBOARD_HOST",
            "Not known under that name",
            Again.STOPS,
            "The browser called the dashboard by a name that is not its own. Somebody else's site may have made its"
            " name lead here, so only known names are answered.",
            "Open the address that `b24migrate serve` printed. Behind a proxy, name its host with `--allow-host`.",
        ),
        Page(
            "DASHBOARD_TOKEN",
            "The token is needed",
            Again.STOPS,
            "Every request to the dashboard needs its token. The request had none, a wrong one, or the cookie of a"
            " session that has ended.",
            "Open the link that `b24migrate serve` printed, or sign in with the token. A script sends it as"
            " `Authorization: Bearer TOKEN`.",
        ),
        Page(
            "DASHBOARD_GUESSED",
            "Too many wrong tokens",
            Again.STOPS,
            "Several wrong tokens came from one address, or very many from all addresses together. The address has to"
            " wait, each time longer, up to a minute. Sessions that are signed in go on.",
            "Wait as long as the header `Retry-After` says, then show the right token.",
        ),
        Page(
            "DASHBOARD_FORGED",
            "The request might be forged",
            Again.STOPS,
            "The page of another site sent the request, or a change was asked for without the header that only the"
            " dashboard's own pages set.",
            "Use the dashboard's own pages. A script sends the header `X-B24migrate: 1`.",
        ),
        Page(
            "DASHBOARD_FORWARDED",
            "Forwarded headers without a proxy",
            Again.STOPS,
            "The request has `X-Forwarded-*` or `Forwarded` headers, and it does not come from a configured proxy. Such"
            " headers could hide the address that guesses tokens.",
            "Behind a proxy, run `b24migrate serve --allow-host NAME`, with `--proxy ADDRESS` if the proxy is on"
            " another machine. Otherwise leave these headers out.",
        ),
        Page(
            "DASHBOARD_BODY",
            "The request cannot be read",
            Again.STOPS,
            "The body of the request is no JSON, is too large, is broken, or did not come in time.",
            "Send a JSON object in UTF-8 with the header `Content-Type: application/json`.",
        ),
        Page(
            "DASHBOARD_ADDRESS",
            "The address is too long",
            Again.STOPS,
            "The address of the request is longer than anything that can be asked for here.",
            "Ask for less at a time.",
        ),
        Page(
            "DASHBOARD_NOT_FOUND",
            "There is no such page",
            Again.STOPS,
            "Nothing is known under that address: no page, no record, no code.",
            "Begin at the front page, or search for the record.",
        ),
        Page(
            "DASHBOARD_METHOD",
            "It cannot be done so",
            Again.STOPS,
            "The address is known, but not for this method.",
            "Looking is GET, changing is POST; the page about the API lists them.",
        ),
        Page(
            "DASHBOARD_OFF",
            "The dashboard is switched off",
            Again.STOPS,
            "The function app has no token for its dashboard, or one that cannot be used.",
            "Write a secret `dashboard-token` of at least 16 characters into the key vault, or set"
            " `B24MIGRATE_DASHBOARD_TOKEN`.",
        ),
        Page(
            "DASHBOARD_SILENT",
            "The dashboard did not start",
            Again.STOPS,
            "The dashboard did not begin to listen in time.",
            "Try another port with `--port`, or look whether the machine is overloaded.",
        ),
        Page(
            "ACTION_UNDER_WAY",
            "Something is under way already",
            Again.STOPS,
            "What was begun from the dashboard has not ended yet, and only one thing is done at a time.",
            "Wait for its end, or pause the run.",
        ),
        Page(
            "ACTION_VANISHED",
            "What was begun here has vanished",
            Again.STOPS,
            "The process that was begun from the dashboard could not be started, or ended without a word: killed, or"
            " the machine was restarted.",
            "Start it again: it goes on where it was. Its last words are in the file that ends in `.started.log`"
            " beside the store.",
        ),
        Page(
            "NOTHING_FAILED",
            "Nothing has failed",
            Again.STOPS,
            "There is nothing to try again.",
            "Nothing to do.",
        ),
        Page(
            "BUG",
            "A bug",
            Again.STOPS,
            "Something went wrong that nobody foresaw. Everything so far is kept.",
            "Please report it, with the details that the log has under the reference that was shown.",
        ),
    ),
)
