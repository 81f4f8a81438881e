"""Who tried and what was found, read from the steps of all rounds."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from remit.journal import tries
from remit.model.codec import Json, JsonMap, text_of, to_json
from remit.model.contract import Contract, ContractType, Criterion, Finding, Result, Verdict
from remit.model.reply import AttemptOutcome, SpecialistClaim
from remit.model.task import Task
from remit.specialist.specialist_pool import SpecialistTurn, WorkResult
from remit.store import rows, tasks
from tests.store.scene import AT, Scene

CODE = Contract(ContractType.VERIFIABLE, (Criterion("unit-test", "It works"),))
GOOD = Verdict((Finding("unit-test", Result.PASS),))
BAD = Verdict((Finding("unit-test", Result.FAIL, "no"), Finding("lint", Result.PASS)))
CHANGED = WorkResult("tree", ("app.py",))


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path / "agent.db")
    yield scene
    scene.close()


def kept(scene: Scene, task: Task, *steps: tuple[int, str, object]) -> None:
    """Steps as the engine keeps them, one a second."""
    for n, (round_, name, output) in enumerate(steps):
        scene.sql(
            "INSERT INTO steps (task_id, round, name, output, ended_at) VALUES (?, ?, ?, ?, ?)",
            task.id,
            round_,
            name,
            text_of(to_json(output)),
            rows.ms(AT + timedelta(seconds=n)),
        )


def tried(
    agent: str, outcome: AttemptOutcome = AttemptOutcome.SUCCESS, error: str | None = None
) -> SpecialistTurn:
    return SpecialistTurn(
        agent, SpecialistClaim("I did it.", outcome, error=error), AT, AT + timedelta(seconds=9)
    )


def begun(scene: Scene, contract: Contract | None = CODE) -> Task:
    return replace(scene.admit(contract=contract), started_at=AT)


def test_a_claim_is_as_good_as_what_was_found_of_it(scene: Scene) -> None:
    task = begun(scene)
    kept(
        scene,
        task,
        (0, "execute_tool", tried("claude")),
        (0, "look:0", CHANGED),
        (0, "verify:0", BAD),
        (0, "execute_tool:1", tried("claude", AttemptOutcome.CRASH, "exit code 1")),
        (0, "look:1", CHANGED),
        (0, "execute_tool:2", tried("codex")),
        (0, "look:2", WorkResult("tree")),
        (0, "execute_tool:3", tried("codex")),
        (0, "look:3", WorkResult("tree", ("x",), refused=("x leads out.",))),
        (1, "execute_tool", tried("gemini")),
        (1, "look:0", CHANGED),
        (1, "verify:0", GOOD),
    )
    found = tries.read(scene.tx, task).attempts

    assert [(each.agent, each.outcome, each.error, each.retries) for each in found] == [
        ("claude", AttemptOutcome.VERIFICATION_FAILED, "unit-test: no", 0),
        ("claude", AttemptOutcome.CRASH, "exit code 1", 1),
        (
            "codex",
            AttemptOutcome.BAD_OUTPUT,
            "It says that it is done, and has changed no file.",
            0,
        ),
        ("codex", AttemptOutcome.VERIFICATION_FAILED, "x leads out.", 1),
        ("gemini", AttemptOutcome.SUCCESS, None, 0),
    ]
    assert found[0].failed == ("unit-test",)


def test_how_often_and_when_is_told_with_the_verdict(scene: Scene) -> None:
    task = begun(scene)
    kept(scene, task, (0, "verify", BAD), (1, "verify:0", BAD), (1, "verify:1", GOOD))
    told = tries.with_records(replace(task, verdict=GOOD), tries.read(scene.tx, task))

    assert told.verdict == Verdict(
        (Finding("unit-test", Result.PASS, attempts=3),), AT + timedelta(seconds=2)
    )


def test_what_a_brain_thought_is_no_try_of_a_specialist(scene: Scene) -> None:
    task, advice = begun(scene), begun(scene, Contract(ContractType.ADVISORY))
    reply: JsonMap = {"text": "Hi", "calls": list[Json]()}
    kept(scene, task, (0, "execute_tool", reply))
    kept(scene, advice, (0, "execute_tool", tried("claude")), (0, "look:0", WorkResult("tree")))

    assert tries.read(scene.tx, task) == tries.TryHistory()
    assert tries.with_records(task, tries.read(scene.tx, task)) is task
    assert tries.read(scene.tx, scene.admit()) == tries.TryHistory()  # it has not begun
    # Advice may leave every file as it was.
    (found,) = tries.read(scene.tx, advice).attempts
    assert found.outcome is AttemptOutcome.SUCCESS


def test_the_tasks_of_an_agent_are_found_oldest_first_and_only_the_newest(scene: Scene) -> None:
    made = [scene.admit(assigned_agent="project:shop").id for _ in range(3)]
    scene.admit(assigned_agent="project:shed")
    scene.admit()

    assert [each.id for each in tasks.of_agent(scene.tx, "project:shop", 2)] == made[1:]
