"""A company as a portal holds it: tables of records, all grown from one plan."""

from b24sim.company import people as staff
from b24sim.company.plan import Plan, sized
from b24sim.moments import Moments
from b24sim.table import Row, Table


class Company:
    """Everything the portal knows. Deterministic: the same plan gives the same records."""

    def __init__(self, plan: Plan | None = None):
        self.plan = plan or Plan()
        self.moments = Moments(self.plan.timezone)
        self.portal_url = ""
        self.people = staff.people(self.plan, self.moments)
        self.users = Table(self.people.ids, self._user)
        self._tree = {number: place for place, number in enumerate(self.people.departments)}
        self.departments = Table(self.people.departments, self._department)
        self._visible: dict[int, tuple[int, list[int]]] = {}
        self.user_fields = staff.user_fields()

    @classmethod
    def sized(cls, records: int, seed: int = 1, **changes: object) -> "Company":
        return cls(sized(records, seed, **changes))

    @classmethod
    def empty_box(cls, timezone: str = "Europe/Moscow", seed: int = 1) -> "Company":
        """A box before anything was moved to it: its administrator and the root of its departments."""
        return cls(Plan(1, 1, 0, 0, 0, 0, seed, timezone, 0, box=True))

    def settle(self, portal_url: str) -> None:
        """Rows hold absolute links, so the company learns its address before it is asked."""
        self.portal_url = portal_url
        self.users.forget_encodings()

    @property
    def tree_order(self) -> list[int]:
        """Departments as the tree is walked: each parent before its children."""
        known = [number for number in self.people.departments if number in self.departments]
        return known + [number for number in self.departments if number not in self._tree]

    def users_visible_to(self, user: int) -> list[int]:
        """Without ADMIN_MODE: people with a department, oneself, and extranet users of one's groups."""
        if self._visible.get(user, (-1, []))[0] != self.users.version:
            known = [number for number in self.users if self.users.row(number)["UF_DEPARTMENT"] or number == user]
            self._visible[user] = (self.users.version, known)
        return self._visible[user][1]

    def _user(self, number: int) -> Row:
        return staff.user_row(self.people, number, self.portal_url)

    def _department(self, number: int) -> Row:
        return staff.department_row(self.people, self._tree[number])
