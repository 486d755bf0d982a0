"""The way from nothing to a running migration names things that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.deploy.bicep.evaluation import Deployment
from tests.deploy.bicep.tree import read
from tests.deploy.conftest import PROJECT
from tests.deploy.test_infra import app_settings, functions


@pytest.fixture
def way() -> str:
    return (PROJECT / "docs" / "operations.md").read_text("utf-8").partition("## On Azure")[2]


def test_every_output_that_is_used_exists(way: str, azure: Path) -> None:
    used = set(re.findall(r"\$\(out (\w+)\)", way))
    assert used
    assert used <= set(read(azure / "infra" / "main.bicep").named("output"))


def test_every_parameter_that_is_given_exists(way: str, azure: Path) -> None:
    used = set(re.findall(r"\b([a-z]+[A-Z]\w+)=", way)) | {"settings", "name"}
    assert "allowedIpRanges" in used
    assert used <= set(read(azure / "infra" / "main.bicep").named("param"))


def test_the_functions_that_should_be_listed_are_there(way: str) -> None:
    listed = re.search(r"should be listed: ([^.]+)\.", way)
    assert listed is not None
    assert set(re.findall(r"`(\w+)`", listed[1])) == set(functions())


def test_every_address_that_is_called_is_a_route(way: str) -> None:
    called = set(re.findall(r"\$url/(\w+)", way))
    bindings = [binding for each in functions().values() for binding in each if "route" in binding]
    assert called
    assert called <= {str(one["route"]).removeprefix("api/").partition("/")[0] for one in bindings}
    assert "url=$(out appUrl)/api" in way


def test_the_secrets_are_those_that_the_settings_name(way: str, azure: Path) -> None:
    written = set(re.findall(r"secret set --vault-name \$vault -n ([\w-]+)", way))
    settings = app_settings(Deployment(azure / "infra" / "main.bicep", {})).values()
    assert written == {str(value).removeprefix("keyvault:") for value in settings if str(value).startswith("keyvault:")}


def test_every_app_setting_is_explained(azure: Path) -> None:
    """In full, or shortened as `__credential` and `…_AUTHENTICATION_STRING` beside a neighbour."""
    readme = (azure / "README.md").read_text("utf-8")
    for name in app_settings(Deployment(azure / "infra" / "main.bicep", {})):
        short = f"`__{name.rpartition('__')[2]}`" if "__" in name else f"`…{name.removeprefix('APPLICATIONINSIGHTS')}`"
        assert f"`{name}`" in readme or short in readme, name
