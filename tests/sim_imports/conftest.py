"""The box that most tests talk to."""

import pytest
from tests.sim_imports.client import Client


@pytest.fixture
def box() -> Client:
    return Client()
