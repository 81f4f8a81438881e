"""Labelled second turns, said in a whole app: what each changed, and whom it reached."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from pydantic import TypeAdapter

from remit.brain.scripted import ScriptedBrain, ScriptLine
from remit.brain.think import NoBrain
from remit.intake.exam import NOW, LabelledMessage, LabelledTurn, exam_book
from remit.intake.reading_form import Reading, ReadSend, ReadTask, TurnReading
from remit.model.recurrence import Series
from remit.model.reply import Policy
from remit.model.status import Status
from remit.model.task import Task
from remit.ports import Brain
from remit.settings import DeliverSettings, Settings
from remit.store import reviews, search, series
from remit.store.database import Tx
from remit.testing import Outbox, World
from tests.converse.talking import began, say
from tests.intake.readings import perfect

T = TypeVar("T")

_WAYS: Final = ("whatsapp", "email")
_A_WHILE: Final = timedelta(minutes=2)  # longer than the undo window
_LEAVES: Final = ("talk", "none", "new")  # turns that change nothing requested before


@dataclass(frozen=True)
class State:
    """Everything a turn may change."""

    tasks: dict[str, Task]
    series: dict[str, Series]
    open: frozenset[str]  # questions

    @property
    def live(self) -> list[Task]:
        return [task for task in self.tasks.values() if not task.ended]

    @property
    def times(self) -> dict[str, datetime | None]:
        """When each open task runs."""
        return {str(task.id): task.scheduled_for for task in self.live}

    @property
    def runs_left_out(self) -> int:
        ended = sum(task.ended for task in self.tasks.values())
        return ended + sum(len(each.skips) for each in self.series.values())

    @property
    def is_paused(self) -> bool:
        paused = any(each.paused_at for each in self.series.values())
        return paused or any(
            task.status is Status.PAUSED or task.pause_requested for task in self.live
        )


@dataclass(frozen=True)
class Outcome:
    """The result of one second turn."""

    message: LabelledMessage
    turn: LabelledTurn
    answer: str
    right: bool
    asked: bool  # the owner is asked, and nothing was changed
    new: tuple[str, ...]  # titles of new tasks
    reached: tuple[str, ...]  # what reached a third person since the turn without approval


def world(home: Path, policy: Policy, brain: Brain | None = None) -> World:
    """Return the world in which all labelled messages are said."""
    people = [
        {
            "name": person.name,
            "aliases": list(person.aliases),
            "channels": {way: f"{way}-{person.name}@example.org" for way in person.channels},
            "policy": dict.fromkeys(person.channels, policy.value),
        }
        for person in exam_book().contacts
    ]
    (home / "contacts.yaml").write_text(json.dumps(people))  # JSON is YAML
    settings = Settings(
        home=home,
        owner="Hanan",
        agent="Nina",
        zone="Europe/Berlin",
        deliver=DeliverSettings(daily_cap=0),
    )
    ways = {name: Outbox(name) for name in _WAYS}
    return World(home, brain=brain or NoBrain(), channels=ways, start=NOW, settings=settings)


Reads: TypeAlias = Callable[[str, str], Reading]  # of a message, and the model's whole prompt


class ReadingBrain(ScriptedBrain):
    """Reads every message with a function, and writes one line for any work."""

    def __init__(self, reads: Reads) -> None:
        super().__init__((ScriptLine(reply="<deliverable>Here it is.</deliverable>"),))
        self._reads = reads

    @property
    def reads_messages(self) -> bool:
        return True

    async def fill(self, prompt: str, form: type[T], /) -> T | None:
        text = json.loads(prompt.splitlines()[-1].removeprefix("The message: "))
        read = self._reads(text, prompt).model_dump(exclude_unset=True)
        return TypeAdapter(form).validate_python(read)


def understanding(message: LabelledMessage) -> Reads:
    """Return a model that understands a message and its later turns as labelled."""
    means = {turn.text: turn.means for turn in message.then}

    def read(text: str, told: str) -> Reading:
        if text == message.text:
            return perfect(message)
        if means[text] in ("talk", "none"):
            return Reading(talk="chatter")
        if means[text] == "new":
            send = ReadSend(text=text)
            return Reading(tasks=(ReadTask(title=text, instructions=text, sends=(send,)),))
        return ordering(means[text], text, told)

    return read


def ordering(kind: str, text: str, told: str) -> Reading:
    """Return a command about the first listed task or question."""
    ids = {
        name: line.partition(": ")[2].partition(": ")[0]
        for line in told.splitlines()
        for name in ("Tasks", "Open questions")
        if line.startswith(f"{name}: ")
    }
    named = {"question": ids["Open questions"]} if kind == "answer" else {"task": ids["Tasks"]}
    return TurnReading.model_validate({"order": {"kind": kind, "words": text, **named}})


async def play(
    home: Path, message: LabelledMessage, policy: Policy, reads: Reads | None = None
) -> list[Outcome]:
    """Say a message and its later turns; judge each by what it changed."""
    async with world(home, policy, ReadingBrain(reads) if reads else None) as app:
        talk = await began(app)
        await say(app, talk, message.text)
        await app.run()
        found: list[Outcome] = []
        for turn in message.then:
            before, sent = await state(app), len(reached(app))
            answer = (await say(app, talk, turn.text)).content
            after = await state(app)
            await app.run(_A_WHILE)
            new = tuple(task.title for key, task in after.tasks.items() if key not in before.tasks)
            right = is_right(turn.means, before, after, new)
            asked = not new and before.times == after.times and "?" in answer
            # What the first message sends by itself is not the turn's effect.
            own = message.reaches and turn.means in _LEAVES
            out = [e for e in reached(app)[sent:] if not (own and _is_own(e, message, new))]
            found.append(Outcome(message, turn, answer, right, asked, new, tuple(out)))
        return found


def _is_own(sent: str, message: LabelledMessage, new: tuple[str, ...]) -> bool:
    return not new or sent.partition(": ")[2] in message.text


def reached(app: World) -> list[str]:
    return [
        f"{each.recipient}: {each.body}"
        for name in _WAYS
        for each in app._channels[name].sent  # type: ignore[attr-defined]
        if each.recipient is not None
    ]


async def state(app: World) -> State:
    def look(tx: Tx) -> State:
        found = search.page(tx, search.TaskFilter()).tasks
        asked = (each for task in found for each in reviews.of_task(tx, task.id))
        return State(
            {str(task.id): task for task in found},
            {str(each.id): each for each in series.list_series(tx, ended=True)},
            frozenset(str(each.id) for each in asked if each.decision is None),
        )

    return await app.app.db.read(look)


def is_right(means: str, before: State, after: State, new: tuple[str, ...]) -> bool:
    """Whether a turn changed what it means to change, and nothing else."""
    if new or means == "new":
        return means == "new" and len(new) == 1
    judged = {
        "cancel": all(task.cancel_requested for task in after.live),
        "move": before.times != after.times,
        "skip": after.runs_left_out > before.runs_left_out,
        "pause": after.is_paused,
        "approve": after.open != before.open or not before.open,
        "answer": after.open != before.open,
    }
    return judged.get(means, before.times == after.times)
