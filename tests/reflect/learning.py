"""An app that learns: tasks that the owner edits, ranks or declines, and a reflection."""

import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from remit.model.codec import JsonMap
from remit.model.ids import TaskId
from remit.model.reply import Prompt, Reply, Usage
from remit.model.review import Review, ReviewAnswer
from remit.model.status import Status
from remit.model.task import Edit, Priority, Source, SourceKind, Taint, Task
from remit.reflect import suggest
from remit.reflect.harvest import ReflectionLine
from remit.settings import BudgetSettings, DeliverSettings, ReflectSettings, Settings, parts
from remit.testing import START, World, script
from remit.triggers import cue_admission
from tests.sample_task import sample_task

LETTER: Final = (
    "Dear Mum,\n\nthe beach of the week is Sanur, it is calm and has shade.\n\nBest wishes"
)
BARE: Final = "The beach of the week is Sanur, it is calm and has shade."
GUIDELINE: Final = "Leave out the greeting; begin with what matters."


def world(home: Path, *, model: bool = False, run_tokens: int = 200_000, **more: object) -> World:
    settings = Settings(
        home=home,
        deliver=DeliverSettings(undo=0),
        reflect=ReflectSettings(model=model),
        budget=BudgetSettings(run_tokens=run_tokens),
    )
    more.setdefault("brain", script([{"reply": f"<deliverable>{LETTER}</deliverable>"}]))
    return World(home, settings=settings, **more)  # type: ignore[arg-type]


async def written(app: World, text: str | None, title: str = "Write to Mum") -> TaskId:
    """Send one message to somebody else, unchanged or with another text."""
    task = await app.add(title, recipient="mum")
    await app.run()
    (review,) = [each for each in await app.waiting() if each.task_id == task.id]
    answer = ReviewAnswer.APPROVE if text is None else ReviewAnswer.EDIT
    await app.decide(review, answer, text)
    await app.run()
    assert (await app.get(task.id)).status == "completed"
    return task.id


async def ranked(
    app: World,
    title: str,
    level: Priority | None,
    *,
    taint: Taint = Taint.OWNER,
    kind: SourceKind = SourceKind.MANUAL,
    context: "JsonMap | None" = None,
) -> Task:
    """Make one task, ranked by the rules and then perhaps by the owner, and done."""
    app._added += 1
    cue = cue_admission.cue(title, ref=f"ranked-{app._added}", channel="outbox", content="Done.")
    cue = replace(
        cue,
        source=Source(kind, cue.source.ref),
        taint=taint,
        context=context or {},
        scheduled_for=app.now + timedelta(hours=1),
    )
    task = await app.app.intake.admit(cue)
    await app.run()
    if level is not None:
        await app.app.intake.edit(task.id, Edit(priority=level))
    await app.run(timedelta(hours=2))
    return await app.get(task.id)


async def look_back(app: World) -> tuple[Task, list[Review]]:
    """Reflect now; return the task, and its questions."""
    task = await app.app.reflection.now()
    await app.run()
    asked = [each for each in await app.waiting() if each.task_id == task.id]
    return await app.get(task.id), asked


def guidelines(home: Path) -> str:
    path = home / "guidelines.txt"
    return path.read_text() if path.exists() else ""


def priority_rules(home: Path) -> str:
    path = home / parts.PRIORITY
    return path.read_text() if path.exists() else ""


def lines(home: Path) -> Sequence[str]:
    return [
        line
        for path in sorted((home / "reflections").glob("*.jsonl"))
        for line in path.read_text().splitlines()
    ]


def reflection(task: str, **more: object) -> ReflectionLine:
    """Return a line of a task that went well."""
    plain: dict[str, object] = {
        "seq": 1,
        "task": task,
        "at": START,
        "status": "completed",
        "source": "manual",
        "series": None,
        "priority": "low",
        "rule": "default",
        "taint": "owner",
        "asked": "It",
        "done": "Done.",
        "held": (),
        "shown": (),
        "declined": False,
        "sent_back": 0,
        "verified": None,
        "tokens": 0,
        "cents": 0,
        "late": 0,
    }
    return ReflectionLine(**(plain | more))  # type: ignore[arg-type]


def task_of(name: str, title: str = "Pay the invoice", **more: object) -> Task:
    made = {"source": Source(SourceKind.MANUAL, name), "status": Status.COMPLETED, **more}
    return sample_task(title, START, id=TaskId(name), **made)


def name(n: int) -> str:
    return f"task-{n:026d}"


class Meta:
    """A brain that answers reflections as configured, and otherwise writes letters."""

    def __init__(self, answer: Callable[[str], str]) -> None:
        self.heard: list[str] = []  # in reflections
        self.metered = False
        self._answer = answer

    async def estimate(self, prompt: Prompt) -> Usage:
        assert prompt.whole
        return Usage(tokens=1_000, cents=1, requests=1)

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        if prompt.rules != suggest.RULES:
            return Reply("<deliverable>Done.</deliverable>")
        self.heard.append(prompt.text)
        assert session
        return Reply(self._answer(prompt.text), usage=Usage(tokens=100, cents=1, requests=1))


def named(told: str) -> list[str]:
    """Return the tasks that a brain was told about."""
    return re.findall(r"task-[0-9A-Z]{26}", told)
