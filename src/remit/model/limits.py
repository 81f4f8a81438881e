"""The limits of a task in words, for every place where the task is shown."""

from collections.abc import Iterator
from typing import Final

from remit.model.task import Task
from remit.model.veto import ConditionKind, veto_sentence

_LEADS: Final = {
    ConditionKind.QUIET: "May say nothing",
    ConditionKind.WATCH: "Runs only if this changed",
}


def limit_sentences(task: Task) -> Iterator[str]:
    """Yield a sentence for each limit and each hold in the owner's words."""
    for each in task.conditions:
        part = f" ({each.pattern})" if each.pattern else ""
        yield f"{_LEADS.get(each.kind, 'Limit')}: {each.words}{part}."
    waits = [half for gap in task.gaps for half in gap.waits]
    reaches_others = any(each.recipient for each in (*task.delivery, *waits))
    if task.veto and reaches_others:
        yield f"{veto_sentence(task.veto)} So nobody else gets it without your word."
