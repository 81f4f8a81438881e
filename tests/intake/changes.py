"""What a model may do to a faithful proposal, each as a change of its raw form."""

from collections.abc import Callable
from copy import deepcopy
from datetime import datetime, timedelta
from typing import cast

from remit.intake.extract import Extraction
from remit.intake.proposed import Proposal
from remit.model.plan import Became
from tests.intake.proposals import faithful

Raw = dict[str, object]
Change = Callable[[Raw], None]


def task(raw: Raw, number: int = 0) -> Raw:
    return cast("list[Raw]", raw["tasks"])[number]


def send(raw: Raw, number: int = 0, nth: int = 0) -> Raw:
    return cast("list[Raw]", task(raw, number)["delivery"])[nth]


def entries(raw: Raw) -> list[Raw]:
    return cast("list[Raw]", raw["clauses"])


def set_task(number: int = 0, **values: object) -> Change:
    return lambda raw: task(raw, number).update(values)


def set_send(number: int = 0, nth: int = 0, **values: object) -> Change:
    return lambda raw: send(raw, number, nth).update(values)


def shift(minutes: int, number: int = 0) -> Change:
    def change(raw: Raw) -> None:
        at = cast("datetime", task(raw, number)["scheduled_for"])
        task(raw, number)["scheduled_for"] = at + timedelta(minutes=minutes)

    return change


def add_send(number: int = 0, **values: object) -> Change:
    return lambda raw: cast("list[object]", task(raw, number)["delivery"]).append(values)


def add_task(**values: object) -> Change:
    made: Raw = {"title": "x", "instructions": "x", **values}
    return lambda raw: cast("list[object]", raw["tasks"]).append(made)


def add_work(*items: str, number: int = 0) -> Change:
    return lambda raw: cast("list[object]", task(raw, number)["work"]).extend(items)


def pop_send(raw: Raw) -> None:
    cast("list[object]", task(raw)["delivery"]).pop()


def pop_task(raw: Raw) -> None:
    cast("list[object]", raw["tasks"]).pop()


def drop_clause(number: int) -> Change:
    def change(raw: Raw) -> None:
        raw["clauses"] = [each for each in entries(raw) if each["clause"] != number]

    return change


def set_clause(number: int, **values: object) -> Change:
    def change(raw: Raw) -> None:
        for each in entries(raw):
            if each["clause"] == number:
                each.update(values)

    return change


def swap_sends(raw: Raw) -> None:
    one, other = task(raw, 0), task(raw, 1)
    one["delivery"], other["delivery"] = other["delivery"], one["delivery"]


def swap_recipients(raw: Raw) -> None:
    one, other = send(raw, 0, 0), send(raw, 0, 1)
    one["recipient"], other["recipient"] = other["recipient"], one["recipient"]


def swap_tasks(raw: Raw) -> None:
    raw["tasks"] = [task(raw, 1), task(raw, 0)]


def merge(raw: Raw) -> None:
    """Make one task of all of them."""
    whole = task(raw, 0)
    for other in cast("list[Raw]", raw["tasks"])[1:]:
        for key in ("work", "delivery"):
            cast("list[object]", whole[key]).extend(cast("list[object]", other[key]))
        whole["instructions"] = f"{whole['instructions']}\n{other['instructions']}"
    raw["tasks"] = [whole]
    for each in entries(raw):
        each["task"] = each["task"] and 1


def once_more(raw: Raw) -> None:
    """Do the same again an hour later."""
    cast("list[object]", raw["tasks"]).append(deepcopy(task(raw)))
    shift(60, 1)(raw)
    entries(raw).append({"clause": 1, "became": Became.WORK, "task": 2, "why": None})


def split(raw: Raw) -> None:
    """Give every item of work a task of its own."""
    whole = task(raw)
    items = cast("list[str]", whole["work"])
    raw["tasks"] = [
        {**whole, "title": item, "instructions": item, "work": [item]} for item in items
    ]
    number = 0
    for each in entries(raw):
        number += each["became"] == Became.WORK
        each["task"] = max(1, min(number, len(items)))


def both(*changes: Change) -> Change:
    def change(raw: Raw) -> None:
        for each in changes:
            each(raw)

    return change


def same(_: Raw) -> None:
    """Leave it as it is."""


def changed(found: Extraction, change: Change) -> Proposal:
    raw = cast("Raw", faithful(found).model_dump())
    raw = deepcopy({**raw, "tasks": _lists(raw["tasks"]), "clauses": _lists(raw["clauses"])})
    change(raw)
    return Proposal.model_validate(raw)


def _lists(value: object) -> object:
    """Tuples as lists, all the way down, so that they can be changed."""
    if isinstance(value, list | tuple):
        return [_lists(each) for each in value]
    if isinstance(value, dict):
        return {key: _lists(each) for key, each in value.items()}
    return value
