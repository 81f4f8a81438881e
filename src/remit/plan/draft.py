"""What to work on, where to send it, how to tell it is done; and how urgent it is."""

from dataclasses import dataclass

from remit.model.plan import Item, Plan, Rule
from remit.model.task import Priority, Task


@dataclass(frozen=True, slots=True)
class Ranking:
    priority: Priority
    rule: Rule


class Planner:
    async def draft(self, task: Task) -> Plan:
        """The plan as admitted; without work items the instructions are the one item."""
        plan = task.plan
        if plan.work or plan.precomposed:
            return plan
        return Plan((Item(task.instructions),), plan.delivery, plan.contract)

    def rank(self, task: Task) -> Ranking:
        """Decide how urgent a task is, and keep why."""
        if task.rule is not None:
            return Ranking(task.priority, task.rule)
        return Ranking(Priority.LOW, Rule("default", "no rule matched"))
