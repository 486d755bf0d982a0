"""What an installation gets: the product alone, by locks that name a hash for every file."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable
from email.parser import Parser
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.deploy.conftest import PROJECT

PLACES = ("web/templates", "web/static", "messages/en", "messages/ru")
PINNED = re.compile(r"^([\w.-]+)==\S+")
DEVELOPMENT = ("pytest", "mypy", "ruff", "playwright", "schemathesis", "hypothesis", "trustme", "fast-bitrix24")


def built(folder: Path, to: Path) -> zipfile.ZipFile:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(to)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=120)
    (wheel,) = to.glob("*.whl")
    return zipfile.ZipFile(wheel)


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return built(PROJECT, tmp_path_factory.mktemp("product"))


def text_of(wheel: zipfile.ZipFile, file: str) -> str:
    (name,) = (one for one in wheel.namelist() if one.endswith(f".dist-info/{file}"))
    return wheel.read(name).decode()


def test_the_product_has_every_template_script_style_and_word(product: zipfile.ZipFile) -> None:
    inside = set(product.namelist())
    source = PROJECT / "src"
    wanted = {
        str(file.relative_to(source))
        for place in PLACES
        for file in (source / "b24migrate" / place).iterdir()
        if file.is_file() and file.suffix != ".pyc"
    }
    assert len(wanted) > 50
    assert wanted - inside == set()


def test_the_product_is_installed_without_the_simulator(product: zipfile.ZipFile) -> None:
    assert {name.partition("/")[0] for name in product.namelist() if ".dist-info" not in name} == {"b24migrate"}
    assert "b24sim" not in text_of(product, "entry_points.txt")
    needed = Parser().parsestr(text_of(product, "METADATA")).get_all("Requires-Dist") or []
    assert not any(one.startswith(("b24sim", "trustme")) for one in needed)


def test_the_simulator_is_a_distribution_of_its_own(tmp_path: Path) -> None:
    wheel = built(PROJECT / "simulator", tmp_path)
    names = [name for name in wheel.namelist() if ".dist-info" not in name]
    source = PROJECT / "src" / "b24sim"
    wanted = {f"b24sim/{file.relative_to(source)}" for file in source.rglob("*.py")}
    assert wanted <= set(names)
    assert all(name.startswith("b24sim/") and "__pycache__" not in name for name in names)
    assert "b24sim = b24sim.__main__:main" in text_of(wheel, "entry_points.txt")


def pinned(lock: str) -> set[str]:
    found = (PINNED.match(line) for line in (PROJECT / lock).read_text("utf-8").splitlines())
    return {canonicalize_name(one[1]) for one in found if one}


def needed(wanted: Iterable[str]) -> set[str]:
    """With all that these need on this machine, as it is installed here."""
    found: set[str] = set()
    todo = [Requirement(one) for one in wanted]
    while todo:
        one = todo.pop()
        extras = one.extras or {""}
        if one.marker is not None and not any(one.marker.evaluate({"extra": extra}) for extra in extras):
            continue
        name = canonicalize_name(one.name)
        for text_of in distribution(name).requires or ():
            inner = Requirement(text_of)
            if inner.marker is None or any(inner.marker.evaluate({"extra": extra}) for extra in extras):
                inner.marker = None
                if canonicalize_name(inner.name) not in found:
                    todo.append(inner)
        found.add(name)
    return found


@pytest.mark.parametrize(
    ("lock", "extras"), [("requirements.lock", ()), ("requirements-azure.lock", ("azure", "monitor", "functions"))]
)
def test_a_lock_has_all_that_the_product_needs_and_no_tool_of_its_makers(lock: str, extras: tuple[str, ...]) -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    wanted = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    for extra in extras:
        wanted += project["project"]["optional-dependencies"][extra]
    assert needed(wanted) - pinned(lock) == set()
    assert pinned(lock) & set(DEVELOPMENT) == set()
    assert not extras or pinned("requirements.lock") < pinned(lock)
    assert not any(name.startswith("azure") for name in pinned("requirements.lock"))


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-azure.lock", "requirements-dev.lock"])
def test_a_lock_has_a_hash_for_everything_and_no_address(lock: str) -> None:
    text = (PROJECT / lock).read_text("utf-8")
    assert "://" not in text
    assert "index" not in text
    for line in text.replace("\\\n", " ").splitlines():
        if line and not line.lstrip().startswith("#"):
            assert "--hash=sha256:" in line, line
    versions = {line.split()[0] for line in text.splitlines() if PINNED.match(line)}
    everything = (PROJECT / "requirements-dev.lock").read_text("utf-8")
    assert versions <= {line.split()[0] for line in everything.splitlines() if PINNED.match(line)}


@pytest.mark.parametrize("page", ["README.md", "README.ru.md"])
def test_the_readme_installs_by_the_lock(page: str) -> None:
    text = (PROJECT / page).read_text("utf-8")
    assert "pip install --require-hashes -r requirements.lock" in text
    assert "pip install --no-deps --no-build-isolation ." in text
    assert "pip install --require-hashes -r requirements-azure.lock" in text
    assert "`pip install .`" not in text
