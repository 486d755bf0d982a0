"""The leaky bucket and the operating limit."""

from tests.b24sim.client import call, control

from b24sim import Company, LeakyBucket, ManualClock, Operating, Plan, Portal, serve
from b24sim.clock import RunningClock


def test_the_bucket_fills_and_drains() -> None:
    clock = ManualClock()
    with serve(Portal(clock=clock, bucket=LeakyBucket(2, 50))) as running:
        assert [call(running, "server.time").status for _ in range(51)] == [200] * 50 + [503]
        refused = call(running, "server.time")
        assert refused.json["error"] == "QUERY_LIMIT_EXCEEDED"
        assert "time" not in refused.json
        clock.advance(1)
        assert [call(running, "server.time").status for _ in range(3)] == [200, 200, 503]
        assert control(running, "stats")["limit_rejections"] == {"query": 3, "operating": 0}


def test_a_batch_is_one_request() -> None:
    with serve(Portal(clock=ManualClock(), bucket=LeakyBucket(2, 2))) as running:
        many = {"cmd": {f"c{place}": "server.time" for place in range(50)}}
        assert [call(running, "batch", many).status for _ in range(3)] == [200, 200, 503]


def test_operating_time_is_kept_for_ten_minutes_per_method_and_webhook() -> None:
    clock = ManualClock(1_794_000_000)
    portal = Portal(Company(Plan()), clock=clock, operating=Operating(10), webhooks=(1, 2))
    portal.costs.seconds["user.get"] = 11
    with serve(portal) as running:
        first = call(running, "user.get").json["time"]
        refused = call(running, "user.get")
        assert (refused.status, refused.json["error"]) == (429, "OPERATION_TIME_LIMIT")
        assert call(running, "user.get", user=2).status == 200
        assert call(running, "department.get").status == 200
        clock.advance(first["operating_reset_at"] - clock.now() - 1)
        assert call(running, "user.get").status == 429
        clock.advance(2)
        assert call(running, "user.get").status == 200


def test_calls_can_take_as_long_as_they_cost() -> None:
    clock = ManualClock()
    portal = Portal(clock=clock)
    portal.costs.seconds["server.time"], portal.costs.wall = 3.0, True
    with serve(portal) as running:
        before = clock.now()
        call(running, "server.time")
        assert clock.now() == before + 3


def test_a_fast_clock_runs_faster() -> None:
    wall = [100.0]
    clock = RunningClock(60, lambda: wall[0])
    wall[0] += 2
    assert clock.now() == 100 + 120
