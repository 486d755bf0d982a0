"""How many records have each status, kept with every change so that nobody ever counts them."""

from __future__ import annotations

import sqlite3
from collections import defaultdict

_ADD = """
INSERT INTO Tallies (TableName, Status, Records, PulledThrough) VALUES (?, ?, ?, ?)
ON CONFLICT (TableName, Status)
DO UPDATE SET Records = Records + excluded.Records, PulledThrough = PulledThrough + excluded.PulledThrough
"""


class Tally:
    """What one transaction does to the numbers of one table."""

    def __init__(self, table: str) -> None:
        self._table = table
        self._records: defaultdict[str, int] = defaultdict(int)
        self._pulled: defaultdict[str, int] = defaultdict(int)

    def add(self, status: str, records: int, pulled: int) -> None:
        self._records[status] += records
        self._pulled[status] += pulled

    def move(self, status: str, pulled: bool, to: str, to_pulled: bool) -> None:
        self.add(status, -1, -int(pulled))
        self.add(to, 1, int(to_pulled))

    def write(self, connection: sqlite3.Connection) -> None:
        rows = [(self._table, status, count, self._pulled[status]) for status, count in self._records.items()]
        connection.executemany(_ADD, [row for row in rows if row[2] or row[3]])
