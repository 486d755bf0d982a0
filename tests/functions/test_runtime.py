"""The worker library of the real host drives the function app, where there is one: it needs Python 3.13."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.engine.world import TALK, World
from tests.functions.test_bindings import EXPECTED, FOLDER
from tests.functions.test_migration import assert_moved

PROJECT = FOLDER.parents[1]
PLACE = PROJECT / ".cache" / "functions-runtime"
WHY = (
    "azure-functions-runtime is not installed: scripts/setup-functions-runtime installs it where a Python 3.13 is found"
)


@pytest.mark.slow
@pytest.mark.skipif(not (PLACE / ".installed").exists(), reason=WHY)
def test_the_real_worker_indexes_the_app_and_moves_a_company(small: World, tmp_path: Path) -> None:
    app = tmp_path / "app"
    app.mkdir()
    for name in ("function_app.py", "host.json"):
        shutil.copy(FOLDER / name, app)
    store = f"sqlite:///{tmp_path / 'store.db'}"
    settings = {
        "B24MIGRATE_SOURCE__WEBHOOK": small.cloud.webhook(),
        "B24MIGRATE_SOURCE__REQUESTS_PER_SECOND": "0",
        "B24MIGRATE_TARGET__WEBHOOK": small.box.webhook(),
        "B24MIGRATE_STORE__URL": store,
        "B24MIGRATE_RUN__ENTITIES": ",".join(TALK),
        "PYTHONPATH": os.pathsep.join([str(app), str(PROJECT / "src")]),
    }
    command = [str(PLACE / "bin" / "python"), "-P", str(Path(__file__).with_name("runtime_driver.py")), store]
    ended = subprocess.run(
        command, cwd=app, env=os.environ | settings, capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stderr
    output = json.loads(ended.stdout)
    assert output["begun"][0] == "202"
    assert_moved(output["status"][1])
    assert set(output["bindings"]) == set(EXPECTED)
    for name, bindings in output["bindings"].items():
        assert [one["type"] for one in bindings] == [one["type"] for one in EXPECTED[name]]
