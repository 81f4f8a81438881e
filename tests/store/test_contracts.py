"""What no check has proven, found along an index of its own; also in a file of before."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from remit.model.contract import Contract, ContractType, Finding, Result, Verdict
from remit.model.status import Status
from remit.model.task import Task
from remit.store import home, rows, runs, search, task_filter
from remit.store.search import TaskFilter
from tests.store.scene import Scene

BEFORE = 20  # how many migrations there were


def test_what_was_completed_before_is_in_the_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, path = home.migrations(), tmp_path / "agent.db"
    with monkeypatch.context() as then:
        then.setattr(home, "migrations", lambda: known[:BEFORE])
        home.prepare(path)
        scene = Scene(path)
        asked = {
            title: scene.admit_as_before(
                scene.task(title, contract=Contract(kind), verdict=verdict)
            ).id
            for title, kind, verdict in (
                ("Why is it slow?", ContractType.ADVISORY, None),
                ("Make it fast", ContractType.VERIFIABLE, FAILED),
                ("Proven", ContractType.VERIFIABLE, PASSED),
                ("Nobody looked", ContractType.SKIP, None),
                ("Broken", ContractType.ADVISORY, FAILED),
            )
        }
        scene.admit_as_before(scene.task("Say hello"))
        scene.sql("DROP TRIGGER tasks_move")
        scene.sql("UPDATE tasks SET status = 'completed', completed_at = 1, due_at = NULL")
        scene.sql("UPDATE tasks SET details = '{' WHERE title = 'Broken'")
    # Not by `prepare`, which refuses a file that was written to like this.
    scene.connection.executescript("".join(known[BEFORE:]))

    advice = search.ids(scene.tx, TaskFilter(contract=ContractType.ADVISORY))
    assert advice == [asked["Why is it slow?"]]
    unverified = search.ids(scene.tx, TaskFilter(unverified=True))
    assert set(unverified) == {*advice, asked["Make it fast"], asked["Nobody looked"]}
    assert scene.sql("SELECT COUNT(*) AS n FROM tasks") == [{"n": 6}]
    scene.close()


def test_a_task_is_in_the_list_as_soon_as_its_contract_says_so(scene: Scene) -> None:
    claim = scene.running("Look into it")
    wanted = TaskFilter(contract=ContractType.ADVISORY)
    before = search.count(scene.tx, wanted).total
    planned = replace(claim.task, contract=Contract(ContractType.ADVISORY))
    scene.do(runs.record_steps, claim.lease, {"plan": {}}, rows.details(planned), scene.now)

    assert (before, search.ids(scene.tx, wanted)) == (0, [planned.id])


# Not verified -------------------------------------------------------------------------------------

FAILED = Verdict((Finding("lint", Result.FAIL), Finding("unit", Result.PASS)))
PASSED = Verdict((Finding("lint", Result.PASS),))


def _ended(
    scene: Scene, title: str, contract: ContractType | None, verdict: Verdict | None = None
) -> Task:
    kept = Contract(contract) if contract else None
    claim = scene.running(title, contract=kept, verdict=verdict)
    scene.finish(claim, "done", Status.COMPLETED)
    return claim.task


def test_what_is_not_verified_is_one_list_newest_first(scene: Scene) -> None:
    advice = scene.admit("Why is it slow?", contract=Contract(ContractType.ADVISORY))
    taken = _ended(scene, "Make it fast", ContractType.VERIFIABLE, FAILED)
    light = _ended(scene, "Mend the docs", ContractType.SKIP, FAILED)
    unseen = _ended(scene, "Nobody looked", ContractType.VERIFIABLE)
    _ended(scene, "Proven", ContractType.VERIFIABLE, PASSED)
    _ended(scene, "No contract", None)
    scene.admit("At work", contract=Contract(ContractType.VERIFIABLE), verdict=FAILED)

    wanted = TaskFilter(unverified=True)

    assert search.ids(scene.tx, wanted) == [unseen.id, light.id, taken.id, advice.id]
    assert search.count(scene.tx, wanted).total == 4
    done = replace(wanted, statuses=(Status.COMPLETED,), text="fast")
    assert search.ids(scene.tx, done) == [taken.id]
    first = search.page(scene.tx, replace(wanted, limit=1))
    rest = search.page(scene.tx, replace(wanted, before=first.next))
    assert [each.id for each in rest.tasks] == [light.id, taken.id, advice.id]


@pytest.mark.only_sqlite("it shows a plan of SQLite")
def test_the_list_is_read_along_its_indexes(scene: Scene) -> None:
    explain = "EXPLAIN QUERY PLAN SELECT 1 FROM"
    ways = [lead for way in task_filter.leads(TaskFilter(unverified=True)) for lead in way]
    plans = [str(scene.sql(f"{explain} {w.tables} WHERE {' AND '.join(w.where)}")) for w in ways]

    assert "tasks_by_contract" in plans[0]
    assert "tasks_unproven" in plans[1]
