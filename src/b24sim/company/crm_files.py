"""Files of CRM fields: their numbers tell whose they are; they have nothing to do with Drive."""

from b24sim.company import crm_fields as uf
from b24sim.company.crm_fields import Field
from b24sim.company.crm_ids import COMPANY, CONTACT, DEAL, LEAD, QUOTE, SMART_INVOICE, SmartType
from b24sim.company.crm_world import FileId
from b24sim.company.files import File, KeptFile, file_of, noise, picture
from b24sim.table import Row

MOST_ITEMS, SLOTS = 1_000_000, 4
PICTURE, SINGLE, FIRST, SECOND = range(SLOTS)
_ORDER = (DEAL, CONTACT, COMPANY)
_LATER = {LEAD: 50, QUOTE: 51, SMART_INVOICE: 52}  # behind all smart processes


def files_of(entity_type_id: int, smart: SmartType | None, number: int, fields: list[Field]) -> Row:
    """A single file and two more in the fields meant for them."""
    single, first, second = (file_id(entity_type_id, smart, number, slot) for slot in (SINGLE, FIRST, SECOND))
    return {fields[uf.FILE].code: single, fields[uf.FILES].code: [first, second]}


def file_id(entity_type_id: int, smart: SmartType | None, number: int, slot: int) -> FileId:
    if entity_type_id in _LATER:
        order = _LATER[entity_type_id]
    else:
        order = _ORDER.index(entity_type_id) if smart is None else len(_ORDER) + smart.place
    return FileId((order * MOST_ITEMS + number) * SLOTS + slot)


def owner_of(file: int, smart_types: tuple[SmartType, ...]) -> tuple[int, int]:
    """Type and id of the record a file belongs to; 0 for a type that is not there."""
    order, number = divmod(file // SLOTS, MOST_ITEMS)
    kinds = dict(enumerate((*_ORDER, *(smart.entity_type_id for smart in smart_types))))
    kinds |= {place: number for number, place in _LATER.items()}
    return kinds.get(order, 0), number


def crm_file(seed: int, file: int) -> File:
    if file % SLOTS == PICTURE:
        return File(file, "photo.png", len(picture(f"crm:{file}")))
    return file_of(seed, file, file // SLOTS + file % SLOTS)


def content(file: File) -> bytes:
    return stretch(file, 0, file.size)


def stretch(file: File, start: int, end: int) -> bytes:
    """The same bytes every time, and never those of a Drive file."""
    if isinstance(file, KeptFile):
        return file.data[start:end]
    drawn = file.id % SLOTS == PICTURE
    return picture(f"crm:{file.id}")[start:end] if drawn else noise(f"crm:{file.id}", min(end, file.size), start)
