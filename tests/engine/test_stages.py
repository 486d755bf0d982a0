"""When a stage goes on, and when it is over."""

from __future__ import annotations

from tests.engine.world import World

from b24migrate.engine.stages import send_stage


def test_a_stage_that_sends_goes_on_as_long_as_a_round_settles_something(small: World) -> None:
    """Then once more, as the last time."""
    assert small.run("users", phases=("get",)).exit_code == 0
    with small.app() as app:
        context, scope = app.context, "users-set"
        stage = send_stage(context.streams["users"])
        people = sum(context.store.counts(context.streams["users"].table).values())
        jobs, memo = stage.again(context, scope, {})
        assert (bool(jobs), memo) == (True, {"left": people})
        jobs, memo = stage.again(context, scope, memo)
        assert (bool(jobs), memo) == (True, {"final": True})
        assert {job.args["final"] for job in jobs} == {True}
        assert stage.again(context, scope, memo) == ([], {})


def test_a_stage_without_anything_to_send_is_over_at_once(small: World) -> None:
    with small.app() as app:
        stage = send_stage(app.context.streams["users"])
        assert list(stage.seed(app.context, "users-set")) == []
        assert stage.again(app.context, "users-set", {}) == ([], {})
