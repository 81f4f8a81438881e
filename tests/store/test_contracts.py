"""What no check has proven, found along an index of its own; also in a file of before."""

from pathlib import Path

import pytest

from remit.model.contract import Contract, ContractType
from remit.store import home, search
from remit.store.search import Filter
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

    assert search.ids(again.tx, Filter(contract=ContractType.ADVISORY)) == [advice.id]
    assert again.sql("SELECT COUNT(*) AS n FROM tasks") == [{"n": 3}]
    again.close()


def test_a_task_is_in_the_list_as_soon_as_its_contract_says_so(scene: Scene) -> None:
    task = scene.admit("Look into it")
    wanted = Filter(contract=ContractType.ADVISORY)
    before = search.count(scene.tx, wanted).total
    scene.sql("UPDATE tasks SET details = json_set(details, '$.contract', json(?))", ADVICE)

    assert (before, search.ids(scene.tx, wanted)) == (0, [task.id])


def test_a_row_that_nobody_can_read_keeps_nobody_from_the_others(scene: Scene) -> None:
    whole = scene.admit("Whole", contract=Contract(ContractType.ADVISORY))
    broken = scene.admit("Broken", contract=Contract(ContractType.ADVISORY))
    scene.sql("UPDATE tasks SET details = '{' WHERE id = ?", broken.id)

    for kind in ContractType:
        found = search.ids(scene.tx, Filter(contract=kind))
        assert found == ([whole.id] if kind is ContractType.ADVISORY else [])
