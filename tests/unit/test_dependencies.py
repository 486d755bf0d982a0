"""Every library in pyproject.toml is imported somewhere in the product."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[2]
NOT_IMPORTED = {
    "tzdata": "zoneinfo reads it",
    "httptools": "uvicorn uses it if it is there",
    "uvloop": "uvicorn uses it if it is there",
}
MODULES = {"azure-monitor-opentelemetry-exporter": "azure.monitor.opentelemetry", "azure-functions": "azure.functions"}


def requirements() -> set[str]:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    shipped = [*project["dependencies"], *(one for name, several in extras.items() if name != "dev" for one in several)]
    return {re.split(r"[<>=;~! \[]", one)[0] for one in shipped} - {"b24migrate"}


def is_imported(name: str, source: str) -> bool:
    dotted = MODULES.get(name, name.replace("-", "." if name.startswith("azure-") else "_"))
    module = re.escape(dotted).replace("opentelemetry_sdk", r"opentelemetry\.sdk")
    return re.search(rf"\b(from|import) {module}\b", source) is not None


def test_every_library_is_imported() -> None:
    places = [*(PROJECT / "src").rglob("*.py"), *(PROJECT / "deploy").rglob("*.py")]
    source = "\n".join(one.read_text("utf-8") for one in places)
    assert {name for name in requirements() if not is_imported(name, source)} == set(NOT_IMPORTED)
