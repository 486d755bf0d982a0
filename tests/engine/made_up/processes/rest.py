"""How a box without the import module is written, and what it does not keep."""

from __future__ import annotations

from b24migrate.model.fidelity import Keeping, Rule
from b24migrate.targets.rest.writer import Writer, create_one_by_one

STARTED = Rule("processes", "STARTED", Keeping.LOST, "The box takes the time of the import.")

WRITERS = (
    Writer(
        stream="processes",
        entity="workflows",
        needs=("bizproc.workflow.start",),
        create=create_one_by_one("bizproc.workflow.start", lambda item: {"TEMPLATE_ID": item.fields["TEMPLATE_ID"]}),
        find=lambda _box, _keys: {},
        update=lambda _box, _known, _item: None,
        read=lambda _box, _known: {},
        rules=lambda _box: (STARTED,),
    ),
)
