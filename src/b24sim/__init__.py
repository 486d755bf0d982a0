"""b24sim: a Bitrix24 portal that never existed, over HTTP."""

from b24sim.clock import ManualClock, RunningClock
from b24sim.company.company import Company
from b24sim.company.plan import Plan
from b24sim.errors import RestError
from b24sim.faults import Faults
from b24sim.launch import launch
from b24sim.limits import LeakyBucket, Operating
from b24sim.native.task_habits import TaskHabits
from b24sim.portal import Costs, Portal
from b24sim.serve import Running, serve

__version__ = "0.1.0"
__all__ = [
    "Company",
    "Costs",
    "Faults",
    "LeakyBucket",
    "ManualClock",
    "Operating",
    "Plan",
    "Portal",
    "RestError",
    "Running",
    "RunningClock",
    "TaskHabits",
    "launch",
    "serve",
]
