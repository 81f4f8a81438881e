"""One life of a task by the store's own verbs: admitted, then moved four times, durably."""

import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from remit.intake.admit import make
from remit.model.contract import RankingRule
from remit.model.ids import Ids
from remit.model.status import Actor, Status
from remit.model.task import Cue, Priority, Task
from remit.store import moves, queue, tasks
from remit.store.database import Tx
from remit.store.moves import Ending
from remit.store.queue import ClaimedTask, ClaimFilter
from remit.triggers import cue_admission

RULE = RankingRule("default", "no rule matched")
ENDING = Ending(outcome="done", to=Status.COMPLETED, by=Actor.VERIFIER)


def now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - a benchmark lives in real time


IDS = Ids(now, secrets.randbits)
WORKER = IDS.worker()


def wanted(room: int) -> ClaimFilter:
    return ClaimFilter(room, {}, suspects=True, ageing=timedelta(minutes=15))


def cue(number: int) -> Cue:
    """A task with nothing to deliver, as the peers' tasks have nothing to deliver."""
    return replace(cue_admission.cue(f"Prepare report {number}", ref=str(number)), delivery=())


def task(number: int) -> Task:
    return make(cue(number), IDS, now())


def admit(tx: Tx, number: int) -> Task:
    return tasks.admit(tx, task(number))


def rank(tx: Tx, admitted: Task) -> None:
    queue.rank(tx, admitted.id, Priority.LOW, RULE, now())


def verify(tx: Tx, claim: ClaimedTask) -> None:
    moves.move(
        tx, claim.task, claim.lease, Status.VERIFYING, Actor.EXECUTOR, details=None, now=now()
    )


def finish(tx: Tx, claim: ClaimedTask) -> None:
    verified = replace(claim.task, status=Status.VERIFYING)
    moves.finish(tx, verified, claim.lease, now(), ENDING, now())


def live(tx: Tx, numbers: Sequence[int], commit: Callable[[], None]) -> None:
    """Take a group of tasks through their lives; `commit` is called after each stage."""
    admitted = [admit(tx, number) for number in numbers]
    commit()
    for each in admitted:
        rank(tx, each)
    commit()
    claims = queue.claim(tx, WORKER, wanted(len(admitted)), IDS.run, now())
    commit()
    for claim in claims:
        verify(tx, claim)
    commit()
    for claim in claims:
        finish(tx, claim)
    commit()
