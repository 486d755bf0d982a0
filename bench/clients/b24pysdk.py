"""b24pysdk, the vendor's own: `user.get` through either of its two ways of reading a whole list.

It keeps to no limit by itself: it waits after a 503 and tries again. The wait is set to what one request costs, half a
second, and to patience without end, which is the best it can do.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from b24pysdk import BitrixWebhook, Config

from bench.clients.meter import Meter, say


def rows(options: dict[str, Any]) -> Iterable[dict[str, Any]]:
    address = urlsplit(options["source"])
    _, user, secret = address.path.strip("/").split("/")
    webhook = BitrixWebhook(domain=address.netloc, webhook_token=f"{user}/{secret}")
    Config().configure(default_initial_retry_delay=0.5, default_max_retries=1000, default_retry_delay_increment=0)
    if options["way"] == "fast":
        answer = webhook.call_list_fast(api_method="user.get", params={"ADMIN_MODE": "Y"})
    else:
        answer = webhook.call_list(api_method="user.get", params={"ADMIN_MODE": "Y", "sort": "ID", "order": "ASC"})
    found: Iterable[dict[str, Any]] = answer["result"]
    return found


def main(options: dict[str, Any]) -> None:
    meter = Meter()
    try:
        # The fast way yields rows one by one, so they are let go of: its user may not want them all at once.
        count = sum(1 for _ in rows(options))
    except Exception as error:  # noqa: BLE001 (whatever it is, it is what its user would see)
        say(**meter.read(), error=f"{type(error).__name__}: {str(error)[:200]}")
        return
    say(**meter.read(), records=count)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
