"""What is published: the host's settings and the package with the project inside."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.util import module_from_spec, spec_from_file_location
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from tests.deploy.bicep.evaluation import Deployment
from tests.deploy.conftest import PROJECT

from b24migrate.monitor.telemetry import VARIABLE


@pytest.fixture
def host(azure: Path) -> dict[str, Any]:
    return dict(json.loads((azure / "host.json").read_text()))


@pytest.fixture
def in_azure(azure: Path) -> dict[str, Any]:
    deployment = Deployment(azure / "infra" / "main.bicep", {})
    (settings,) = (one.body["properties"] for one in deployment.resources if one.type == "Microsoft.Web/sites/config")
    return dict(settings)


@pytest.fixture
def at_home(azure: Path) -> dict[str, str]:
    return dict(json.loads((azure / "local.settings.example.json").read_text())["Values"])


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(packaging().main(tmp_path_factory.mktemp("package") / "functions.zip"))


def packaging() -> Any:
    spec = spec_from_file_location("package", PROJECT / "deploy" / "azure" / "package.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_messages_are_read_as_they_are_written(host: dict[str, Any]) -> None:
    """The default of the extension is base64; the store writes plain JSON."""
    assert host["extensions"]["queues"]["messageEncoding"] == "none"


def test_a_message_is_poison_after_three_deliveries(host: dict[str, Any]) -> None:
    assert host["extensions"]["queues"]["maxDequeueCount"] == 3


def test_a_job_has_the_time_that_every_consumption_plan_gives(host: dict[str, Any]) -> None:
    assert host["functionTimeout"] == "00:10:00"


def test_the_bundle_is_the_fourth(host: dict[str, Any]) -> None:
    assert host["version"] == "2.0"
    assert host["extensionBundle"]["version"] == "[4.0.0, 5.0.0)"


def test_there_is_a_thread_for_every_message_an_instance_takes(
    host: dict[str, Any], in_azure: dict[str, Any], at_home: dict[str, str]
) -> None:
    queues = host["extensions"]["queues"]
    together = str(queues["batchSize"] + queues["newBatchThreshold"])
    assert 1 <= queues["batchSize"] <= 32
    assert in_azure["PYTHON_THREADPOOL_THREAD_COUNT"] == at_home["PYTHON_THREADPOOL_THREAD_COUNT"] == together


def test_the_metrics_that_the_settings_ask_for_can_be_sent(package: Path, in_azure: dict[str, Any]) -> None:
    """Otherwise the timer would say every minute that their libraries are not installed."""
    assert VARIABLE in in_azure
    assert "\nazure-monitor-opentelemetry-exporter==" in requirements(package)


def test_calls_to_other_services_are_not_logged(host: dict[str, Any]) -> None:
    """Their addresses contain keys of records."""
    assert host["logging"]["logLevel"]["default"] == "Warning"
    assert host["logging"]["applicationInsights"]["enableDependencyTracking"] is False


def test_at_home_the_program_is_told_the_same_things(in_azure: dict[str, Any], at_home: dict[str, str]) -> None:
    ours = {name for name in at_home if name.startswith("B24MIGRATE_")}
    assert ours == {name for name in in_azure if name.startswith("B24MIGRATE_")} - {"B24MIGRATE_KEY_VAULT"}
    assert at_home["AzureWebJobsStorage"] == "UseDevelopmentStorage=true"


def requirements(package: Path) -> str:
    return zipfile.ZipFile(package).read("requirements.txt").decode()


def test_the_project_is_installed_from_the_package_alone_and_only_as_it_was_built(
    package: Path, tmp_path: Path
) -> None:
    """Neither a registry's b24migrate nor any registry by name."""
    settings = requirements(package)
    assert "://" not in settings
    (ours,) = (line for line in settings.splitlines() if line.startswith("./"))
    zipfile.ZipFile(package).extractall(tmp_path)
    (tmp_path / "ours.txt").write_text(f"--require-hashes\n{ours}\n")
    offline = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--target", "here"]
    command = [sys.executable, "-m", "pip", "install", *offline, "-r", "ours.txt"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert (tmp_path / "here" / "b24migrate" / "py.typed").exists()
    assert not (tmp_path / "here" / "b24sim").exists()
    wheel = next(tmp_path.glob("*.whl"))
    with zipfile.ZipFile(wheel, "a") as changed:
        changed.writestr("b24migrate/more.py", "")
    refused = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert refused.returncode != 0
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in refused.stderr


def test_the_package_has_what_the_host_looks_for_and_nothing_private(package: Path, azure: Path) -> None:
    names = set(zipfile.ZipFile(package).namelist())
    sources = {path.name for path in azure.glob("*.py")} - {"package.py"}
    (wheel,) = (name for name in names if name.endswith(".whl"))
    assert names == {"host.json", "requirements.txt", wheel, *sources}


def test_azure_installs_the_files_that_were_tested(package: Path) -> None:
    pinned = requirements(package)
    assert pinned.startswith("--require-hashes\n")
    joined = pinned.replace("\\\n", " ").splitlines()
    assert all("--hash=sha256:" in line for line in joined[1:] if line and not line.lstrip().startswith("#"))
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    for requirement in wanted:
        name = re.split(r"[^\w.-]", requirement)[0]
        assert re.search(rf"^{re.escape(name)}==", pinned, re.MULTILINE), name


def test_what_is_not_published_is_named(azure: Path) -> None:
    kept = (azure / ".funcignore").read_text().splitlines()
    assert {"infra/", "package.py", "local.settings.json"} <= set(kept)
