"""What was understood, said back in a few sentences: how many tasks, when, for whom."""

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from remit.converse import records
from remit.converse.plugs import Understood
from remit.model.task import Task

_NUMBERS: Final = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
TALK: Final = {
    "thanks": "You are welcome.",
    "greeting": "Hello. Say what is to be done, or ask what is going on.",
    "statement": "That tells something and asks for nothing, so nothing was done.",
    "control": "I cannot tell which task that is about. Name it by a word of its title.",
    "chatter": "That asks for nothing to be done.",
}


def sentences(heard: Understood, now: datetime, zone: ZoneInfo) -> str:
    """What became of a message that asks for something."""
    many = len(heard.tasks)
    head = [f"{_NUMBERS[many] if many < len(_NUMBERS) else many} tasks."] if many > 1 else []
    lines = [_planned(task, heard, now, zone) for task in heard.tasks]
    asked = [each.question for each in heard.asked]
    return "\n".join([*head, *lines, *asked, *heard.unasked])


def _planned(task: Task, heard: Understood, now: datetime, zone: ZoneInfo) -> str:
    open_ = any(each.task_id == task.id for each in heard.asked)
    parts = _parts(task, now, zone, heard.asks_first, open_=open_)
    return f"{records.title(task)} {' '.join(parts)}"


def _parts(
    task: Task, now: datetime, zone: ZoneInfo, asks: Collection[str], *, open_: bool
) -> Iterator[str]:
    at = task.scheduled_for
    if open_:
        yield "starts once you have answered."
    elif at is not None:
        again = "first runs" if task.repeats else "runs"
        yield f"{again} {_when(at, now, zone)}."
    else:
        yield "starts now."
    if task.plan.precomposed:
        yield "It needs no thinking: your words go out as they are."
    others = [each.recipient for each in task.delivery if each.recipient and str(each.id) in asks]
    if others:
        yield f"You are asked before it goes to {', '.join(dict.fromkeys(others))}."


def _when(at: datetime, now: datetime, zone: ZoneInfo) -> str:
    told = records.moment(at, now, zone)
    return f"at {told}" if told[:1].isdigit() else told
