"""The folder of the deployment."""

from __future__ import annotations

from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


@pytest.fixture
def azure() -> Path:
    return PROJECT / "deploy" / "azure"
