"""The command line: creates a company, opens a portal, prints its address and serves until it is stopped."""

import gc
import json
import signal
import sys
import threading

from b24sim.options import parser
from b24sim.portal_setup import portal_from
from b24sim.serve import serve


def main(arguments: list[str] | None = None) -> int:
    """Run a portal until SIGTERM or SIGINT."""
    options = parser().parse_args(arguments)
    try:
        portal = portal_from(options)
    except ValueError as complaint:
        print(f"b24sim: {complaint}", file=sys.stderr)  # noqa: T201
        return 2
    leave = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: leave.set())
    with serve(portal, options.host, options.port, tls=options.tls, moved=options.moved, warm=True) as running:
        # The company lives as long as the process: the collector need not look at it again.
        gc.freeze()
        print(json.dumps(running.ready()), flush=True)  # noqa: T201
        leave.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
