"""Questions to the table of jobs that the service answers in pieces, as Azurite never does so early."""

from __future__ import annotations

import pytest
from tests.stores.azure.scripted_service import Answer, rows, with_these

from b24migrate.stores.azure.jobtable import JobTable


@pytest.mark.parametrize(
    ("answers", "count"),
    [
        ([rows()], 0),
        ([rows(more=True), rows("id:s:1", "id:s:2")], 2),
        ([rows("id:s:1", more=True), rows()], 1),
        ([rows(more=True), rows(), rows("id:s:2")], 1),  # between the pieces a job was followed by one of the first
        ([rows(more=True), rows(more=True), rows(), rows()], 0),
    ],
)
def test_no_jobs_in_an_answer_of_several_pieces_proves_nothing(answers: list[Answer], count: int) -> None:
    with with_these(*answers) as account:
        assert JobTable(account).count("s") == count
