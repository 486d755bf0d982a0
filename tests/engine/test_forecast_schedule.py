"""The schedule of a forecast: limits, workers, dependencies; and what a call costs."""

from __future__ import annotations

import time

import pytest

from b24migrate.insight.forecast.estimate import Situation, forecast, nights_s
from b24migrate.insight.forecast.meter import Meter
from b24migrate.insight.forecast.schedule import (
    EXECUTION,
    OWN,
    REPEATED,
    SOURCE,
    TARGET,
    Course,
    Limits,
    Op,
    Stage,
    Used,
    Workers,
    covered_s,
    length_s,
    schedule,
)
from b24migrate.ports import Bill

REQUEST = Op(SOURCE, 1, 0.0, "user.get")


def allowed_s(requests: float, per_second: float = 2.0, bucket: float = 50.0) -> float:
    """When the limits let so many through. Of the bucket two are left to whom we do not know."""
    return (requests * (1 + REPEATED) - (bucket - 2)) / per_second


def reading(jobs: float, op: Op = REQUEST, lanes: int = 4) -> Stage:
    return Stage("read", "get", (jobs / lanes,) * lanes, (op,))


def sending(seconds: float) -> Stage:
    return Stage("send", "set", (1.0,), (Op(TARGET, 1, seconds, "import.users.batch"),))


def alone(*stages: Stage, name: str = "users", needs: frozenset[str] = frozenset()) -> Course:
    return Course(name, needs, stages)


# ---------------------------------------------------------------- limits


def test_requests_alone_take_what_the_bucket_lets_through() -> None:
    assert length_s(schedule([alone(reading(1048))], Limits())) == pytest.approx(allowed_s(1048), rel=0.01)


def test_a_bucket_that_is_full_already_is_waited_for() -> None:
    took = schedule([alone(reading(100))], Limits(), used=Used(level=48))
    assert length_s(took) == pytest.approx(50, abs=2)


def test_execution_time_comes_in_windows_of_ten_minutes() -> None:
    op = Op(SOURCE, 1, 0.0, "user.get", seconds_of=(((0, "user.get"), 72.0),))
    took = schedule([alone(reading(20, op))], Limits())["users"]
    assert took.ended_s == pytest.approx(1200, abs=60)  # 480 s at once, and twice after ten minutes
    assert max(took.waits, key=lambda name: took.waits[name]) == (EXECUTION, "user.get")


def test_what_the_analysis_has_spent_is_not_there_for_the_migration() -> None:
    op = Op(SOURCE, 1, 0.0, "user.get", seconds_of=(((0, "user.get"), 40.0),))
    fresh = schedule([alone(reading(12, op))], Limits())
    spent = schedule([alone(reading(12, op))], Limits(), used=Used(spent_s=(((0, "user.get"), 240.0),)))
    assert length_s(fresh) < 1
    assert length_s(spent) > 500


# ---------------------------------------------------------------- hands and calls


def test_a_chain_is_as_long_as_its_answers_and_lanes_go_on_side_by_side() -> None:
    slow = Op(SOURCE, 1, 2.0)
    assert length_s(schedule([alone(reading(20, slow, lanes=1))], Limits(0))) == pytest.approx(40)
    assert length_s(schedule([alone(reading(20, slow, lanes=4))], Limits(0))) == pytest.approx(10)


def test_no_more_calls_are_under_way_than_there_are_workers() -> None:
    slow = Op(SOURCE, 1, 2.0)
    took = schedule([alone(reading(24, slow, lanes=12))], Limits(0), Workers(workers=2, threads=3))
    assert length_s(took) == pytest.approx(24)


def test_our_own_computing_is_done_one_after_the_other() -> None:
    work = Op(OWN, 1, 0.5)
    assert length_s(schedule([alone(reading(20, work))], Limits(0))) == pytest.approx(10)


def test_the_longest_lane_is_waited_for() -> None:
    stage = Stage("send", "set", (30.0, 2.0, 2.0), (Op(TARGET, 1, 1.0),))
    assert length_s(schedule([alone(stage)], Limits(0))) == pytest.approx(30)


# ---------------------------------------------------------------- entities


def test_who_waits_for_nobody_goes_on_side_by_side_and_shares_the_bucket() -> None:
    both = [alone(reading(1048)), alone(reading(1048), name="crm")]
    assert length_s(schedule(both, Limits())) == pytest.approx(allowed_s(2 * 1048), rel=0.01)


def test_an_entity_begins_when_those_that_it_refers_to_are_imported() -> None:
    waiting = [alone(sending(300)), alone(sending(300), name="chats", needs=frozenset({"users"}))]
    took = schedule(waiting, Limits())
    assert took["chats"].began_s == pytest.approx(300)
    assert length_s(took) == pytest.approx(600)


def test_the_second_pass_begins_when_everything_is_imported_and_verify_is_not_waited_for() -> None:
    late = Stage("complete", "late", (1.0,), (Op(TARGET, 1, 10.0),))
    verify = Stage("verify", "verify", (1.0,), (Op(TARGET, 1, 100.0),))
    took = schedule([alone(sending(5), late, verify), alone(sending(50), late, name="crm")], Limits(0))
    assert took["crm"].ended_s == pytest.approx(60)
    assert took["users"].ended_s == pytest.approx(160)


def test_a_long_migration_takes_no_longer_to_forecast() -> None:
    op = Op(SOURCE, 1, 0.1, "user.get", seconds_of=(((0, "user.get"), 1.0),))
    began = time.process_time()
    times = schedule([alone(reading(1_000_000, op))], Limits())
    assert time.process_time() - began < 2
    assert length_s(times) == pytest.approx(1_000_000 / 480 * 600, rel=0.01)  # the execution time of ten minutes


def test_two_bounds_hold_at_the_same_time() -> None:
    """The box is busy with one entity while the bucket of requests holds up the other."""
    courses = [alone(sending(100)), alone(reading(248), name="crm")]
    times = schedule(courses, Limits())
    assert times["users"].ended_s == pytest.approx(100)
    assert times["crm"].ended_s == pytest.approx(allowed_s(248), rel=0.02)
    assert length_s(times) == pytest.approx(max(100, allowed_s(248)), rel=0.02)


# ---------------------------------------------------------------- ranges and what-ifs


def test_what_is_uncertain_makes_the_range_wide() -> None:
    def width(uncertain: float) -> float:
        stage = Stage("read", "get", (250.0,) * 4, (REQUEST,), uncertain=uncertain)
        made = forecast([alone(stage)], Situation(Limits()), slower_s={})
        assert made.low_s <= made.total_s <= made.high_s
        return made.high_s - made.low_s

    assert width(0.2) > 2 * width(0.0)


def test_a_target_that_nobody_has_measured_may_take_longer_but_not_less() -> None:
    course = alone(Stage("send", "set", (50.0,) * 4, (Op(TARGET, 1, 1.0, "import.users.batch"),)))
    known, unknown = (forecast([course], Situation(Limits()), slower_s=one) for one in ({}, {"users": 2.0}))
    assert unknown.total_s == known.total_s
    assert unknown.high_s > known.high_s * 1.5
    assert unknown.low_s == pytest.approx(known.low_s, rel=0.3)


def test_enterprise_is_faster_where_requests_are_what_is_waited_for() -> None:
    made = forecast([alone(reading(1250))], Situation(Limits()), slower_s={})
    enterprise = next(one for one in made.what_ifs if one.name == "enterprise")
    assert enterprise.total_s == pytest.approx(allowed_s(1250, 5.0, 250.0), rel=0.02)
    assert (made.limited_by, made.method) == ("requests", "user.get")


def test_nights_count_the_days_between() -> None:
    assert nights_s(9 * 3600) == 9 * 3600
    assert nights_s(20 * 3600) == (24 * 2 + 2) * 3600


def test_what_overlaps_is_counted_once() -> None:
    assert covered_s([(0, 10), (5, 12), (20, 25), (21, 22)]) == 17


# ---------------------------------------------------------------- what a call costs


def test_a_growing_sum_tells_what_a_call_costs() -> None:
    meter = Meter()
    meter(Bill(0, "user.get", 5, 1.0, 3.0, 0.0, 0.2))
    assert meter.costs["user.get"] == (0.5, 4)


def test_without_a_sum_the_duration_counts() -> None:
    meter = Meter()
    meter(Bill(0, "user.get", 1, None, None, 0.25, 0.3))
    assert meter.costs["user.get"].seconds == 0.25


def test_where_batch_pays_its_growth_is_divided_by_how_long_calls_lasted() -> None:
    meter = Meter()
    meter(Bill(0, "profile", 1, 0.2, 0.2, 0.2, 0.1))
    for sum_s in (12.0, 24.0, 36.0):  # half as much again is booked as the calls say that they last
        meter(Bill(0, "user.get", 20, None, None, 0.3, 1.0))
        meter(Bill(0, "crm.item.list", 10, None, None, 0.2, 0.0))
        meter(Bill(0, "batch", 0, sum_s, sum_s, 12.0, 0.0))
    costs = meter.costs
    assert costs["user.get"].seconds == pytest.approx(0.45)
    assert costs["crm.item.list"].seconds == pytest.approx(0.3)
    assert "batch" not in costs
    assert (meter.used.requests, dict(meter.used.calls)[0, "user.get"]) == (4, 60)
    assert meter.spent_s[0, "batch"] == 36.0
    payers = {method: meter.payer((0, method))[1] for method in ("user.get", "profile", "never.called")}
    assert payers == {"user.get": "batch", "profile": "profile", "never.called": "batch"}


def test_methods_pay_for_themselves_where_batch_does_not() -> None:
    meter = Meter()
    meter(Bill(0, "user.get", 5, 1.0, 3.0, 0.5, 0.2))
    assert meter.payer((0, "user.get")) == (0, "user.get")
    assert meter.payer((0, "never.called")) == (0, "never.called")


def test_a_sum_that_falls_is_no_measure() -> None:
    meter = Meter()
    meter(Bill(0, "user.get", 2, 470.0, 10.0, 0.0, 0.2))
    assert "user.get" not in meter.costs


def test_a_request_takes_longer_by_the_calls_in_it() -> None:
    meter = Meter()
    for _ in range(4):
        meter(Bill(0, "profile", 1, None, None, 0.0, 0.1))
    meter(Bill(0, "user.get", 40, None, None, 0.0, 4.1))
    assert meter.pace.seconds({}) == pytest.approx(0.1)
    assert meter.pace.seconds({(0, "user.get"): 50}) == pytest.approx(5.1)
    assert meter.used.requests == 5


def test_a_download_is_no_call() -> None:
    meter = Meter()
    meter(Bill(0, "download", 1, None, None, 0.0, 0.4))
    assert meter.downloads_s == [0.4]
    assert meter.used.requests == 0
    assert not meter.costs
