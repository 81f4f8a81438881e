"""A series on a small store, with a clock that can be set: runs begin and end as it ticks."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import takewhile
from pathlib import Path

from remit.model import rrule
from remit.model.delivery import Delivery
from remit.model.recurrence import Repeats, Series, Slot, SlotFate
from remit.model.status import Actor, Status
from remit.model.task import Priority, Task
from remit.settings import ScheduleSettings
from remit.store import moves, queue, series, series_orders, slots
from remit.store.queue import ClaimedTask
from remit.triggers.repeat import following
from tests.store.scene import RULE, Scene

INSTANT = timedelta(milliseconds=1)


@dataclass
class Days:
    """The series, and what happens to it at each look."""

    scene: Scene
    repeats: Repeats
    rules: ScheduleSettings = field(default_factory=ScheduleSettings)
    begun: Counter[datetime] = field(default_factory=Counter)
    at_work: list[ClaimedTask] = field(default_factory=list)
    reached: datetime = field(init=False)

    def __post_init__(self) -> None:
        scene = self.scene
        scene.do(slots.keep_rule, self.rules.overlap)
        sends = (Delivery("outbox", id=scene.ids.delivery()),)
        self.first: Task = scene.admit("News", repeats=self.repeats, delivery=sends)
        self.reached = scene.now

    @property
    def series(self) -> Series:
        assert self.first.series_id is not None
        return series.find(self.scene.tx, self.first.series_id)

    def tick(self, *, ends: bool = True) -> None:
        """Do what a Remit does at a moment; `ends`: what begins is done at once."""
        scene = self.scene
        self.reached = max(self.reached, scene.now)
        while series.due(scene.tx, scene.now, 10):
            step = following(self.series, scene.ids, scene.now, self.rules)
            scene.do(slots.advance, self.series, step, scene.now)
        for task in queue.list_unranked(scene.tx, scene.now, 500):
            scene.do(queue.rank, task.id, Priority.LOW, RULE, scene.now)
        while found := scene.claim():
            for claim in found:
                assert claim.task.slot is not None
                self.begun[claim.task.slot] += claim.lease.number == 1
            self.at_work += found
            if ends:
                self.end()

    def end(self) -> None:
        """Finish everything that is running."""
        for claim in self.at_work:
            task = self.scene.get(claim.task.id)
            to = Status.CANCELLED if task.cancel_requested else Status.COMPLETED
            outcome = "cancelled" if task.cancel_requested else "done"
            end = moves.Ending(outcome=outcome, to=to, by=Actor.EXECUTOR)
            now = self.scene.now
            self.scene.do(moves.finish, task, claim.lease, claim.task.last_updated, end, now)
        self.at_work = []

    def go(self, span: timedelta) -> None:
        """Let time pass; each thing happens at its time."""
        end = self.scene.now + span
        self.tick()
        while (due := series.soonest(self.scene.tx, self.scene.now)) and due <= end:
            self.scene.now = due
            self.tick()
        self.scene.now = end
        self.tick()

    def ledger(self) -> list[Slot]:
        until = self.reached + INSTANT
        return series_orders.slots_of_series(
            self.scene.tx, self.series.id, self.repeats.first, until, 1_000_000
        )

    def fates(self) -> list[SlotFate | None]:
        return [slot.fate for slot in self.ledger()]

    def ruled(self) -> list[datetime]:
        """Return every past slot, by the rule alone."""
        known = rrule.slots(self.series.repeats, self.repeats.first - INSTANT)
        return list(takewhile(lambda at: at <= self.reached, known))

    def check(self) -> None:
        """Check that each past slot is in the ledger once, and none began twice."""
        found = self.ledger()
        assert [slot.at for slot in found] == self.ruled()
        assert all(times <= 1 for times in self.begun.values())
        ran = {slot.at for slot in found if slot.started}
        assert ran == {at for at, times in self.begun.items() if times and at <= self.reached}
        for slot in found:
            assert slot.fate is not None or slot.task_id is not None
            passed = slot.fate in {SlotFate.SKIPPED, SlotFate.MISSED}
            assert passed == (slot.fate is not None and slot.started is None)
            assert bool(slot.why) == passed


def days(
    folder: Path,
    repeats: Repeats,
    rules: ScheduleSettings | None = None,
    *,
    now: datetime | None = None,
) -> Days:
    scene = Scene(folder / "agent.db")
    scene.now = now or scene.now
    return Days(scene, repeats, rules or ScheduleSettings())
