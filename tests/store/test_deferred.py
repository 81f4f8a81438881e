"""What waits for its group, whose end it waits for, and what is written when it has come."""

from remit.model.codec import JsonMap
from remit.model.contract import (
    DEFERRED,
    Contract,
    ContractType,
    Criterion,
    Finding,
    Result,
    Timing,
    Verdict,
)
from remit.model.deferred import (
    UNMERGED,
    DebtCause,
    DeferredBatch,
    DeferredCriterion,
    DeferredGroup,
    GroupEnd,
    deferred_criteria,
    due_checks,
)
from remit.model.ids import SeriesId
from remit.model.status import Status
from remit.model.task import Task
from remit.store import debts, deferred, moves
from remit.store.debts import CheckedBatch
from tests.store.scene import Scene

LATE = Criterion("e2e", "It works", timing=Timing.DEFERRED)
CONTRACT = Contract(ContractType.VERIFIABLE, (Criterion("lint", "Style"), LATE))
PENDING = Verdict((Finding("lint", Result.PASS), Finding("e2e", Result.SKIPPED, DEFERRED)))
FAILED = Finding("e2e", Result.FAIL, "blank")
PASSED = Finding("e2e", Result.PASS)
PRD = DeferredBatch("shop", "main", DeferredGroup(GroupEnd.PRD, "prd.md"))
DAY = DeferredBatch("shop", "main", DeferredGroup(GroupEnd.DAY, "2026-03-02"))
SHOP: JsonMap = {"prd": "prd.md#US-1"}


def done(scene: Scene, batch: DeferredBatch | None = PRD, **more: object) -> Task:
    """Work that has ended; what it put off waits, if it was merged."""
    mine = {"contract": CONTRACT, "verdict": PENDING, "context": SHOP, **more}
    claim = scene.running("Build it", assigned_agent="project:shop", **mine)
    if batch is not None:
        scene.do(deferred.put_off, deferred_criteria(claim.task, batch, ("a.py",), scene.now))
    scene.finish(claim, "done", Status.COMPLETED)
    return scene.get(claim.task.id)


def waits(scene: Scene) -> list[DeferredCriterion]:
    return deferred.list_deferred(scene.tx)


def closed(scene: Scene, found: Finding, batch: DeferredBatch = PRD) -> CheckedBatch:
    mine = [each for each in waits(scene) if each.batch == batch]
    return CheckedBatch(batch, [(each, found) for each in due_checks(mine)])


def test_what_is_put_off_is_there_as_it_was_said_and_once(scene: Scene) -> None:
    task = done(scene)
    again = deferred_criteria(task, DAY, ("b.py",), scene.wait())
    (first,) = deferred.of_task(scene.tx, task.id)
    assert first == deferred_criteria(task, PRD, ("a.py",), first.since)[0]

    scene.do(deferred.put_off, again)
    scene.do(deferred.put_off, again)

    assert waits(scene) == list(again)
    assert deferred.of_task(scene.tx, task.id) == list(again)


def test_what_the_owner_declines_or_cancels_waits_for_nothing(scene: Scene) -> None:
    cancelled, _ = scene.asking()
    scene.sql(
        "UPDATE tasks SET details = json_set(details, '$.verdict', json(?)) WHERE id = ?",
        '{"findings": [{"activity": "e2e", "result": "skipped", "error": "deferred"}]}',
        cancelled.id,
    )

    scene.do(moves.cancel, cancelled.id, scene.wait())

    told = scene.get(cancelled.id)
    assert told.verdict is not None
    assert told.verdict.findings[0].error == UNMERGED
    assert scene.complaints() == []


def test_a_document_waits_for_each_of_its_tasks_that_is_open(scene: Scene) -> None:
    task, agent = done(scene), {"assigned_agent": "project:shop"}
    mine = scene.admit(context={"prd": "prd.md"}, **agent)
    for context in ({"prd": "other.md"}, {"prd": True}, {}):
        scene.admit(context=context, **agent)
    scene.admit(context=SHOP, assigned_agent="project:shed")
    scene.admit(context=SHOP)

    assert deferred.at_work(scene.tx, PRD, {task.id}) == [mine.id]
    scene.do(moves.cancel, mine.id, scene.now)
    assert deferred.at_work(scene.tx, PRD, {task.id}) == []


def test_a_series_waits_for_runs_that_have_begun_and_a_day_for_those_that_wait(
    scene: Scene,
) -> None:
    series, agent = SeriesId("ser-1"), {"assigned_agent": "project:shop"}
    run = DeferredBatch("shop", "main", DeferredGroup(GroupEnd.SERIES, series))
    begun = scene.running(series_id=series, **agent).task
    scene.admit("planned", series_id=series, **agent)
    other = scene.admit(**agent)

    assert deferred.at_work(scene.tx, run, set()) == [begun.id]
    assert deferred.at_work(scene.tx, DAY, set()) == []
    assert deferred.at_work(scene.tx, DAY, {other.id}) == [other.id]


# What files owe -----------------------------------------------------------------------------------


def test_a_step_that_is_done_twice_is_owed_once(scene: Scene) -> None:
    task = scene.admit()
    for _ in range(2):
        scene.do(debts.add, "shop", ["a.py", "b.py"], task.id, DebtCause.CHECK, scene.wait())
    scene.do(debts.add, "shop", ["a.py"], task.id, DebtCause.SKIP, scene.now, reason="no time")

    owed = debts.book(scene.tx, "shop", scene.now).debts

    assert [(each.path, each.failures) for each in owed] == [("a.py", 2), ("b.py", 1)]
    assert owed[0].reasons == ("no time",)
    assert debts.book(scene.tx, "shop", scene.now, task.id).debts == ()
    assert debts.book(scene.tx, "shed", scene.now).debts == ()
