"""The writing methods that a box has without any module: each with the limits it is documented with."""

from b24sim.context import Method
from b24sim.native import crm_fields, crm_items, crm_products, crm_structure, crm_types, departments, user_fields, users

ROOMS = (users, departments, user_fields, crm_structure, crm_types, crm_fields, crm_items, crm_products)


def native_methods() -> list[Method]:
    return [method for room in ROOMS for method in room.METHODS]
