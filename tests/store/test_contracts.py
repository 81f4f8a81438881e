"""What no check has proven, found along an index of its own; also in a file of before."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from remit.model.contract import Contract, ContractType
from remit.model.status import Status
from remit.model.task import Task
from remit.store import home, search, task_filter
from remit.store.search import TaskFilter
from tests.store.scene import Scene

ADVICE = '{"type":"advisory"}'
BEFORE = 13  # how many migrations there were


def test_an_older_file_is_brought_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, path = home.migrations(), tmp_path / "agent.db"
    with monkeypatch.context() as then:
        then.setattr(home, "migrations", lambda: known[:BEFORE])
        home.prepare(path)
        scene = Scene(path)
        advice = scene.admit("Why is it slow?", contract=Contract(ContractType.ADVISORY))
        scene.admit("Make it fast", contract=Contract(ContractType.VERIFIABLE))
        scene.admit("Say hello")
        scene.close()

    home.prepare(path)
    again = Scene(path)

    assert search.ids(again.tx, TaskFilter(contract=ContractType.ADVISORY)) == [advice.id]
    assert again.sql("SELECT COUNT(*) AS n FROM tasks") == [{"n": 3}]
    again.close()


def test_a_task_is_in_the_list_as_soon_as_its_contract_says_so(scene: Scene) -> None:
    task = scene.admit("Look into it")
    wanted = TaskFilter(contract=ContractType.ADVISORY)
    before = search.count(scene.tx, wanted).total
    scene.sql("UPDATE tasks SET details = json_set(details, '$.contract', json(?))", ADVICE)

    assert (before, search.ids(scene.tx, wanted)) == (0, [task.id])


def test_a_row_that_nobody_can_read_keeps_nobody_from_the_others(scene: Scene) -> None:
    whole = scene.admit("Whole", contract=Contract(ContractType.ADVISORY))
    broken = scene.admit("Broken", contract=Contract(ContractType.ADVISORY))
    scene.sql("UPDATE tasks SET details = '{' WHERE id = ?", broken.id)

    for kind in ContractType:
        found = search.ids(scene.tx, TaskFilter(contract=kind))
        assert found == ([whole.id] if kind is ContractType.ADVISORY else [])


# Not verified -------------------------------------------------------------------------------------

FAILED = '{"findings":[{"activity":"lint","result":"fail"},{"activity":"unit","result":"pass"}]}'
PASSED = '{"findings":[{"activity":"lint","result":"pass"}]}'


def _ended(scene: Scene, title: str, contract: ContractType | None, verdict: str = "") -> Task:
    claim = scene.running(title, contract=Contract(contract) if contract else None)
    scene.finish(claim, "done", Status.COMPLETED)
    if verdict:
        put = "UPDATE tasks SET details = json_set(details, '$.verdict', json(?)) WHERE id = ?"
        scene.sql(put, verdict, claim.task.id)
    return claim.task


def test_what_is_not_verified_is_one_list_newest_first(scene: Scene) -> None:
    advice = scene.admit("Why is it slow?", contract=Contract(ContractType.ADVISORY))
    taken = _ended(scene, "Make it fast", ContractType.VERIFIABLE, FAILED)
    light = _ended(scene, "Mend the docs", ContractType.SKIP, FAILED)
    unseen = _ended(scene, "Nobody looked", ContractType.VERIFIABLE)
    _ended(scene, "Proven", ContractType.VERIFIABLE, PASSED)
    _ended(scene, "No contract", None)
    said = _ended(scene, 'It says "result":"fail"', ContractType.VERIFIABLE, PASSED)
    scene.sql(
        "UPDATE tasks SET details = json_set(details, '$.context', json(?)) WHERE id = ?",
        '{"result":"fail"}',
        said.id,
    )
    at_work = scene.admit("At work", contract=Contract(ContractType.VERIFIABLE))
    scene.sql(
        "UPDATE tasks SET details = json_set(details, '$.verdict', json(?)) WHERE id = ?",
        FAILED,
        at_work.id,
    )

    wanted = TaskFilter(unverified=True)

    assert search.ids(scene.tx, wanted) == [unseen.id, light.id, taken.id, advice.id]
    assert search.count(scene.tx, wanted).total == 4
    done = replace(wanted, statuses=(Status.COMPLETED,), text="fast")
    assert search.ids(scene.tx, done) == [taken.id]
    first = search.page(scene.tx, replace(wanted, limit=1))
    rest = search.page(scene.tx, replace(wanted, before=first.next))
    assert [each.id for each in rest.tasks] == [light.id, taken.id, advice.id]


def test_a_broken_row_keeps_nobody_from_what_is_not_verified(scene: Scene) -> None:
    taken = _ended(scene, "Make it fast", ContractType.VERIFIABLE, FAILED)
    broken = _ended(scene, "Broken", ContractType.VERIFIABLE, FAILED)
    scene.sql("UPDATE tasks SET details = '{' WHERE id = ?", broken.id)

    assert search.ids(scene.tx, TaskFilter(unverified=True)) == [taken.id]


def test_the_list_is_read_along_its_indexes(scene: Scene) -> None:
    explain = "EXPLAIN QUERY PLAN SELECT 1 FROM"
    ways = [lead for way in task_filter.leads(TaskFilter(unverified=True)) for lead in way]
    plans = [str(scene.sql(f"{explain} {w.tables} WHERE {' AND '.join(w.where)}")) for w in ways]

    assert "tasks_by_contract" in plans[0]
    assert "tasks_unproven" in plans[1]
