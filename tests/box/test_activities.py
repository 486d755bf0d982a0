"""The module has the same list of activities as the product, and comes to the same verdict about every template."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.unit.test_activities import REFUSED

from b24migrate.model.activities import STANDARD, activity_names, find_forbidden

FILE = Path(__file__).parents[2] / "box-module" / "b24migrate.import" / "lib" / "Contract" / "Activities.php"
CLASS = r"\B24migrate\Import\Contract\Activities"


def php(code: str, given: Any = None) -> Any:
    """What the code echoes as JSON; `$given` is decoded as a box decodes it."""
    start = f"define('B_PROLOG_INCLUDED', true); require {str(FILE)!r};"
    start += "$given = json_decode(stream_get_contents(STDIN), false, 100000);"
    command = ["php", "-d", "display_errors=stderr", "-r", f"{start} echo json_encode({code});"]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


def test_both_lists_are_the_same() -> None:
    names = php(f"(new ReflectionClassConstant('{CLASS}', 'STANDARD'))->getValue()").split(" ")
    assert len(names) == len(set(names))
    assert set(names) == STANDARD


@pytest.mark.parametrize("template", [tree for tree, _ in REFUSED.values()], ids=REFUSED.keys())
def test_both_refuse_the_same_templates(template: Any) -> None:
    if template == REFUSED["very deep"][0]:
        template = [*template[0]["Children"][0]["Children"]]
        for _ in range(4_900):
            template = template[0]["Children"]
    answer = php(f"{CLASS}::forbidden((array)$given)", {"TEMPLATE": template})
    here = activity_names(find_forbidden({"TEMPLATE": template}))
    assert [one.replace("(unreadable)", "(no type)") for one in answer] == [
        one.replace("(unreadable)", "(no type)") for one in here
    ]


def test_both_let_every_standard_activity_pass() -> None:
    trees = [{"Type": name, "Name": "A", "Properties": {}, "Children": []} for name in [*sorted(STANDARD), "rest_1c"]]
    assert php(f"{CLASS}::forbidden((array)$given)", {"TEMPLATE": trees}) == []
    assert find_forbidden({"TEMPLATE": trees}) == []
