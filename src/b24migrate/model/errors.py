"""What can go wrong, sorted by what to do about it.

MigrationError              what happened, and a hint: what the operator should do
├── Transient               the same thing may succeed later: try again, it uses up an attempt
├── Limited                 a limit of the portal: wait until it resets, no attempt is used
├── Permanent               this record or page will never succeed: set it aside, go on
│   └── Refused             all calls of a method were refused so far, too few to be sure
│       └── Forbidden       a whole method is refused: where records are incomplete without it, its gate stops the run
└── Stop                    the run cannot go on; carries the exit code
    ├── BadConfiguration    2: a file, a key or a value is wrong
    ├── GateUnmet           3: a prerequisite is missing
    ├── Halted              4: an error outside our reach (outage, full disk, blocked portal)
    └── Unproven            5: numbers that should agree do not
"""

from __future__ import annotations

import errno

from b24migrate.messages import join, say

EXHAUSTED = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE)
NO_SUCH_METHOD = "ERROR_METHOD_NOT_FOUND"  # the code of a Permanent: the portal does not have the method at all


class MigrationError(Exception):
    """`sentence`: what is wrong and what to do, as a message that is rendered for its reader."""

    def __init__(self, message: str, *, code: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint

    @property
    def bare(self) -> str:
        """The message without the name of a gate."""
        return self.message

    @property
    def sentence(self) -> str:
        return join((self.message, self.hint), " ")

    def __str__(self) -> str:
        return str(self.sentence)


class Transient(MigrationError):
    """A timeout, a lost connection, a 5xx. For a write the outcome is unknown; keys make the repeat harmless.
    `own`: it failed while the portal was otherwise healthy, so it counts against the record, unless a part of the work
    was done by it (then it is not `spent`)."""

    def __init__(self, message: str, *, code: str = "", hint: str = "", own: bool = False) -> None:
        super().__init__(message, code=code, hint=hint)
        self.own = own
        self.spent = True


class TokenServerAway(Transient):
    """The authorization server of an application does not answer; the portal may."""


class Limited(MigrationError):
    """The portal asks us to wait. `wait_s` is how long, from now; `method` what for; `midway`: other questions of the
    same caller were answered before, and it would ask them again."""

    midway = False

    def __init__(self, message: str, *, wait_s: float, code: str = "", hint: str = "", method: str = "") -> None:
        super().__init__(message, code=code, hint=hint)
        self.wait_s = wait_s
        self.method = method


class Permanent(MigrationError):
    """The other side understood and refused. Repeating it changes nothing."""


class Refused(Permanent):
    """None of a few calls of a method was granted. `gate` is for those who have nothing else to ask and cannot do
    without: records must not be taken for complete."""

    def __init__(self, message: str, *, gate: GateUnmet, code: str = "", hint: str = "") -> None:
        super().__init__(message, code=code, hint=hint)
        self.gate = gate


class Forbidden(Refused):
    """None of many was, or another one was refused too. No need to ask any further."""


class Stop(MigrationError):
    exit_code = 4


class BadConfiguration(Stop):
    exit_code = 2


class GateUnmet(Stop):
    exit_code = 3

    def __init__(self, gate: str, message: str, *, code: str = "", hint: str = "") -> None:
        super().__init__(say("gate.named", gate=gate, message=message), code=code, hint=hint)
        self.gate = gate
        self._bare = message

    @property
    def bare(self) -> str:
        return self._bare


class Halted(Stop):
    exit_code = 4


class Unproven(Stop):
    exit_code = 5


def is_exhausted(error: BaseException) -> bool:
    """Whether the machine has no space or no handles left: no record and no job is the cause of that."""
    return isinstance(error, OSError) and error.errno in EXHAUSTED
