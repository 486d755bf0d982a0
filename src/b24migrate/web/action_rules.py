"""Which actions make sense now; the same says why one is refused."""

from __future__ import annotations

from b24migrate.insight.status.model import Overview, Verdict
from b24migrate.web.action_files import LastAction
from b24migrate.web.context import Context

START, PAUSE, RESUME, RETRY, ANALYZE = "start", "pause", "resume", "retry", "analyze"
AT_WORK = (Verdict.BEGINNING, Verdict.RUNNING, Verdict.LIMITED, Verdict.OUTAGE)
AT_REST = (Verdict.NO_RUN, Verdict.STOPPED, Verdict.BLOCKED, Verdict.DONE, Verdict.FINDINGS)
TO_GO_ON = (Verdict.PAUSED, Verdict.STOPPED, Verdict.BLOCKED, Verdict.STILL)


def possible_actions(seen: Overview, last: LastAction | None, context: Context) -> tuple[str, ...]:
    """A run that does not move may have lost whoever worked on it: then it can be gone on with, and paused."""
    verdict = seen.now.verdict
    may = [PAUSE] if verdict in AT_WORK or verdict is Verdict.STILL else []
    busy = last is not None and last.exit_code is None
    if busy or context.portals.cannot_start is not None:
        return tuple(may)
    may += [START] if verdict in AT_REST else []
    may += [RESUME] if verdict in TO_GO_ON else []
    may += [RETRY] if verdict in AT_REST and seen.failed + seen.dead_letters else []
    may += [ANALYZE] if verdict not in AT_WORK else []
    return tuple(one for one in may if one == PAUSE or one in context.actions.able)
