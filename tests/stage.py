"""The real spine with fake brain, channels, store and time."""

from collections.abc import Mapping
from dataclasses import dataclass

from remit.brain.scripted import ScriptedBrain
from remit.brain.think import Thinker
from remit.channels.registry import DashboardChannel
from remit.delivery.courier import Courier
from remit.model.contract import Contract, ContractType, Criterion
from remit.model.delivery import Delivery
from remit.model.ids import DeliveryId, TaskId
from remit.model.reply import Memory as Recalled
from remit.model.review import Review
from remit.model.status import Reason, Status
from remit.model.task import Task
from remit.plan import Planner
from remit.ports import Brain, Channel
from remit.recall import SessionRecall
from remit.run import Outcome, RunPorts, Wait, run
from remit.testing import START, MemorySteps, Outbox, script
from remit.verify import Verifier
from remit.verify.written import CHECKS
from tests.sample_task import sample_task

SANUR = "I searched a lot. <deliverable>Sanur.</deliverable>"
MUM = Delivery("outbox", "mum", id=DeliveryId("dlv-mum"))
ME = Delivery("outbox", id=DeliveryId("dlv-me"))
BOARD = Delivery("dashboard", id=DeliveryId("dlv-board"))


class NoRecall(SessionRecall):
    """Finds no similar task."""

    def __init__(self) -> None:
        pass

    async def like(self, task: Task) -> Recalled:
        del task
        return Recalled()


@dataclass
class Stage:
    """The spine with fakes around it."""

    memory: MemorySteps
    brain: Brain
    outbox: Outbox

    async def go(self) -> Outcome:
        channels: dict[str, Channel] = {"outbox": self.outbox, "dashboard": DashboardChannel()}
        rooms = RunPorts(
            Planner(),
            NoRecall(),
            Thinker(self.brain, channels),
            Verifier(CHECKS),
            Courier(channels),
        )
        return await run(rooms, self.memory)

    async def asks(self, reason: Reason) -> Review:
        """Run until the owner is asked, and check the reason."""
        outcome = await self.go()
        assert isinstance(outcome, Wait), outcome
        assert outcome.review.reason is reason
        return outcome.review

    @property
    def said(self) -> list[str]:
        return [parcel.body for parcel in self.outbox.sent]

    @property
    def prompts(self) -> list[str]:
        assert isinstance(self.brain, ScriptedBrain)
        return self.brain.heard


def stage(*delivery: Delivery, replies: tuple[object, ...] = (SANUR,), **more: object) -> Stage:
    lines = [each if isinstance(each, Mapping) else {"reply": each} for each in replies]
    once = [{**line, "times": 1} for line in lines[:-1]]
    plain = {"instructions": "Find one", "status": Status.RUNNING, "delivery": delivery, **more}
    task = sample_task("Beaches", START, id=TaskId("task-1"), **plain)
    return Stage(MemorySteps(task), script([*once, lines[-1]]), Outbox())  # type: ignore[list-item]


def contract(*criteria: Criterion, kind: ContractType = ContractType.VERIFIABLE) -> Contract:
    return Contract(kind, criteria or (Criterion("mentions", "names it", "Sanur"),))
