"""What a box cannot do is said before anything is written, in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.targets.everything import moving

from b24migrate.config import load
from b24migrate.model.errors import BadConfiguration, GateUnmet
from b24sim import Portal
from b24sim.methods.system import ALL_SCOPES


def test_a_scope_that_the_webhook_lacks_is_named_by_the_doctor(tmp_path: Path) -> None:
    box = Portal(role="box", scopes=[scope for scope in ALL_SCOPES if scope != "sonet_group"])
    with moving(tmp_path, "users", "groups", box=box) as move, move.app() as app:
        diagnosis = app.runner.examine([one for one in app.catalog.entities if one.name in ("users", "groups")])
        (failed,) = [check for check in diagnosis.checks if check.level == "failed"]
    assert failed.entity == "groups"
    assert failed.message == "the target webhook lacks the scope `sonet_group`, which sonet_group.get needs"


def test_a_method_that_the_box_does_not_have_closes_its_entity(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "groups", box=Portal(role="box", without=["sonet_group.create"])) as move:
        with move.app() as app:
            info = app.context.target.info()
        assert info.lacks == {"groups": "the box does not have the method sonet_group.create"}
        assert "groups" not in info.entities
        assert "users" in info.entities


def test_a_webhook_of_somebody_who_is_no_administrator_stops_the_run(tmp_path: Path) -> None:
    box = Portal(role="box", admins=())
    with moving(tmp_path, "users", box=box) as move, move.app() as app, pytest.raises(GateUnmet, match="administrator"):
        app.context.target.info()


def test_another_kind_of_target_is_complained_about(tmp_path: Path) -> None:
    config = tmp_path / "b24migrate.toml"
    webhook = "https://box.example/rest/1/abc/"
    source = "https://cloud.example/rest/1/def/"
    config.write_text(f'[source]\nwebhook = "{source}"\n[target]\nkind = "native"\nwebhook = "{webhook}"\n')
    with pytest.raises(BadConfiguration, match=r'target\.kind must be "import" or "rest"'):
        load(config, environ={})
