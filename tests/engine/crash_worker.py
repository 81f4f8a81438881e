"""One life of a Remit that may be killed at any moment: its work, its owner, its provider.

    REMIT_FAILPOINT=settle_send:before:2 python crash_worker.py HOME

Started again on the same HOME it goes on, until every task has ended or waits for an answer that
only a person who looked at the phone could give. With a second argument it writes there how often
each failpoint was passed.
"""

import asyncio
import contextlib
import json
import sys
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from remit import wiring
from remit.delivery import courier
from remit.errors import Conflict, Transient
from remit.failpoint import failpoint
from remit.model.codec import text_of
from remit.model.contract import Contract, ContractType, Criterion, WorkItem
from remit.model.delivery import Answer, Delivery, Parcel, SendRetry
from remit.model.reply import Ask, Prompt, Reply
from remit.model.review import Decision, ReviewAnswer
from remit.model.status import Reason, Status
from remit.model.task import Cue, Source, SourceKind, Task
from remit.settings import DeliverSettings, Settings
from remit.store import group_commit, search
from remit.testing import FileOutbox
from remit.wiring import App, WallClock

PROVEN: Final = Contract(ContractType.VERIFIABLE, (Criterion("mentions", "says hi", "hi"),))
OUT, BOARD, MUM = Delivery("outbox"), Delivery("dashboard"), Delivery("outbox", "mum")


TOMORROW: Final = WallClock().now() + timedelta(days=1)


def cue(
    ref: str,
    *delivery: Delivery,
    contract: Contract | None = None,
    scheduled_for: datetime | None = None,
) -> Cue:
    composed = bool(delivery) and all(each.content for each in delivery)
    return Cue(
        source=Source(SourceKind.MANUAL, ref),
        title=ref,
        text=ref,
        work=() if composed else (WorkItem(ref),),
        delivery=delivery,
        contract=contract,
        scheduled_for=scheduled_for,
    )


CUES: Final = (
    cue("composed", Delivery("outbox", content="call mom")),
    cue("composed for two", Delivery("outbox", content="a"), Delivery("outbox", content="b")),
    cue("thought", OUT),
    cue("thought for three", OUT, BOARD, OUT),
    cue("proven", OUT, contract=PROVEN),
    cue("fixed", OUT, contract=PROVEN),
    cue("noted"),
    cue("to mum", MUM),
    cue("asks", OUT),
    cue("flaky", OUT),
    cue("busy", OUT),
    cue("paused", OUT),
    cue("hastened", OUT, scheduled_for=TOMORROW),
    cue("cancelled", OUT, scheduled_for=TOMORROW),
    cue("deleted", BOARD),
)


class Provider(FileOutbox):
    """Is slow, so that a kill also interrupts others; is busy on request."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._log = path.with_suffix(".begun")

    async def send(self, parcel: Parcel) -> Answer:
        if parcel.body == "busy" and self.begun().count(parcel.key) < 2:
            self._begin(parcel)
            return SendRetry("busy", after=0.01)
        self._begin(parcel)
        failpoint("request:half")
        await asyncio.sleep(0.003)
        answer = await super().send(parcel)
        failpoint("request:accepted")
        await asyncio.sleep(0.001)
        return answer

    def begun(self) -> list[str]:
        return self._log.read_text().splitlines() if self._log.exists() else []

    def _begin(self, parcel: Parcel) -> None:
        with self._log.open("a") as file:
            file.write(parcel.key + "\n")


class Brain:
    """Takes a moment; its prompts are recorded in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        del session
        told = next(line for line in prompt.text.splitlines() if line.startswith("Task: "))
        title = told.removeprefix('Task: "').removesuffix('"')
        with self._path.open("a") as file:
            file.write(text_of(title) + "\n")
        asked = self._path.read_text().count(text_of(title) + "\n")
        await asyncio.sleep(0.002)
        if title == "asks" and "teal" not in prompt.text:
            return Reply("", ask=Ask(Reason.INPUT, "Which colour?"))
        if title == "flaky" and asked == 1:
            raise Transient("Not now.", after=0.01)
        if title == "fixed" and "Not proven yet" not in prompt.text:
            return Reply("<deliverable>bye</deliverable>")
        return Reply(f"Thought. <deliverable>{'busy' if title == 'busy' else 'hi'}</deliverable>")


ANSWERS: Final = {
    Reason.APPROVAL: Decision(ReviewAnswer.APPROVE),
    Reason.INPUT: Decision(ReviewAnswer.ANSWER, "teal"),
    Reason.POISON: Decision(ReviewAnswer.APPROVE),
}


async def owner(app: App, tasks: dict[str, Task]) -> None:
    """Do what the owner would do now; meanwhile it may be too late for it."""
    with contextlib.suppress(Conflict):
        await acts(app, tasks)


async def acts(app: App, tasks: dict[str, Task]) -> None:
    for review in await app.inbox.waiting():
        if review.reason in ANSWERS and review.id is not None:
            await app.inbox.decide(review.id, ANSWERS[review.reason])
    if tasks["paused"].status is Status.PAUSED:
        await app.owner.resume(tasks["paused"].id)
    if tasks["hastened"].status is Status.READY:
        await app.owner.run_now(tasks["hastened"].id)
    if tasks["cancelled"].status is Status.READY:
        await app.owner.cancel(tasks["cancelled"].id)
    deleted = tasks["deleted"]
    if deleted.ended and deleted.deleted_at is None:
        await app.owner.delete(deleted.id)
        await app.owner.undelete(deleted.id)
        await app.owner.delete(deleted.id)


async def known(app: App) -> dict[str, Task]:
    pages = [
        await app.db.read(search.page, search.TaskFilter(limit=100, deleted=deleted))
        for deleted in (False, True)
    ]
    return {task.source.ref: task for page in pages for task in page.tasks}


def rests(task: Task) -> bool:
    gone = task.source.ref != "deleted" or task.deleted_at is not None
    return (task.ended and gone) or task.reason is Reason.AMBIGUOUS


async def live(home: Path) -> None:
    brain, provider = Brain(home / "brain.log"), Provider(home / "provider.jsonl")
    settings = Settings(home=home, deliver=DeliverSettings(undo=0))
    async with wiring.opened(settings, brain=brain, channels={"outbox": provider}) as app:
        tasks = {each.source.ref: await app.intake.admit(each) for each in CUES}
        if tasks["paused"].status is Status.NEW:
            await app.owner.pause(tasks["paused"].id)
        await app.engine.start()
        while not all(map(rests, tasks.values())):
            await owner(app, tasks)
            await app.engine.settled()
            await asyncio.sleep(0.003)
            tasks = await known(app)
        await app.engine.stop()


def counted(passed: Counter[str]) -> None:
    """Count the failpoints instead of dying at one."""

    def failpoint(name: str) -> None:
        passed[name] += 1

    for module in (group_commit, courier, sys.modules[__name__]):
        vars(module)["failpoint"] = failpoint


if __name__ == "__main__":
    passed: Counter[str] = Counter()
    if len(sys.argv) > 2:
        counted(passed)
    asyncio.run(live(Path(sys.argv[1])))
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(json.dumps(passed))
