"""The quota that processes share: every backend keeps it to the last request."""

from __future__ import annotations

import threading

import pytest
from tests.stores.samples import Time

from b24migrate.bitrix.envelope import Times
from b24migrate.bitrix.limits import Governor, SharedLedger
from b24migrate.model.errors import Limited
from b24migrate.ports import QUOTA, Store

HOST = "127.0.0.1:8080"


def governor(store: Store, clock: Time, per_second: float = 2.0, bucket: float = 50.0) -> Governor:
    return Governor(clock, per_second=per_second, bucket=bucket, ledger=SharedLedger(store, HOST, clock))


def test_no_turn_is_lost(store: Store, clock: Time) -> None:
    def turns() -> None:
        ours = governor(store, clock, per_second=1e-9, bucket=1e9)  # none has to wait, none is forgotten
        for _ in range(10):
            ours.acquire("a", ("user.get",))

    threads = [threading.Thread(target=turns) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    row = store.read(QUOTA, HOST)
    assert row is not None
    assert row.values["Level"] == pytest.approx(40)


def test_what_one_has_found_out_the_other_keeps_to(store: Store, clock: Time) -> None:
    one, other = governor(store, clock), governor(store, clock)
    one.learned("a", "user.get", Times(operating=500.0, operating_reset_at=clock.now().timestamp() + 300))
    with pytest.raises(Limited) as caught:
        other.acquire("a", ("user.get",))
    assert caught.value.wait_s == pytest.approx(300, abs=1)
    one.rejected(clock.monotonic(), 30.0)
    with pytest.raises(Limited) as caught:
        other.acquire("b", ("user.get",))
    assert caught.value.wait_s == pytest.approx(30, abs=1)
