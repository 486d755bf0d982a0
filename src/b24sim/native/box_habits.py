"""How boxes differ in what their own methods do with what is written. The defaults are a kernel 25.100 as installed."""

from dataclasses import dataclass
from datetime import UTC, date, datetime

FORMATS = {"d.m.Y": "%d.%m.%Y", "m/d/Y": "%m/%d/%Y", "d/m/Y": "%d/%m/%Y", "Y-m-d": "%Y-%m-%d", "Y/m/d": "%Y/%m/%d"}


@dataclass(frozen=True, slots=True)
class BoxHabits:
    """`date_format`: of the site; a field of the type `date` that a method does not convert takes no other (main
    lib/userfield/types/datetype.php). `node_ids`: department.add answers the number of a node of the company
    structure, which no other method knows (intranet lib/Repository/HrDepartmentRepository.php). `unique_group_names`:
    option check_group_name_enable of socialnetwork. `deduplicates`: the forum refuses a message with the text of the
    last one (forum lib/message.php). `closes_today`: who comes into a final stage is closed today (crm
    lib/Field/CloseDate.php; a setting for deals). `push_server`: without one no message is changed or deleted (im
    classes/general/im_messenger.php, CheckPossibilityUpdateMessage). `import_shift`: im.v2.Import takes dates for the
    caller's local time (im lib/V2/Import/ImportSendingService.php). `classic_crm`: leads are in use
    (crm.settings.mode.get)."""

    date_format: str = "d.m.Y"
    node_ids: bool = True
    unique_group_names: bool = True
    deduplicates: bool = True
    closes_today: bool = True
    push_server: bool = True
    import_shift: bool = True
    classic_crm: bool = True

    def day(self, text: str) -> date | None:
        """A day in the format of the site; None for any other text."""
        try:
            found = datetime.strptime(text, FORMATS[self.date_format]).replace(tzinfo=UTC)
        except ValueError:
            return None
        return found.date() if len(text) == len("01.02.2026") else None
