"""What a rule change would have done to past tasks, before it affects new ones."""

from collections.abc import Callable, Iterable
from typing import Final

from msgspec import Struct

from remit.model.task import Priority, Task

_OWNER: Final = "owner"


class BacktestResult(Struct, frozen=True):
    """How many past tasks were tested, and how many would be ranked differently."""

    seen: int
    changed: int
    as_said: int = 0  # of those: now as the owner had said

    @property
    def sentence(self) -> str:
        said = f"{self.changed:,} of {self.seen:,} past tasks would change"
        return (
            f"{said}, {self.as_said:,} to what you said yourself." if self.as_said else f"{said}."
        )


def run(
    tasks: Iterable[Task],
    before: Callable[[Task], Priority],
    after: Callable[[Task], Priority],
) -> BacktestResult:
    """Rank every task by the current and by the new rules."""
    seen = changed = as_said = 0
    for task in tasks:
        seen += 1
        now = after(task)
        if now is before(task):
            continue
        changed += 1
        said = task.rule is not None and task.rule.name == _OWNER
        as_said += said and now is task.priority
    return BacktestResult(seen, changed, as_said)
