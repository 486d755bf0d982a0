"""How boxes differ in what they do with tasks."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TaskHabits:
    """With `chats` comments are messages, as from tasks 25.700 on; `keeps_dates` is what kernels did until then,
    and what nobody promises for later ones; that XML_ID is among the `filters` is written nowhere at all."""

    chats: bool = False
    keeps_dates: bool = True
    filters_xml_id: bool = True
