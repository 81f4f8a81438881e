"""Code work on the spine: tries, checks, hand-overs, the owner's word, the merge. Git is real."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from remit.brain.think import NoBrain, Thinker
from remit.delivery.courier import Courier
from remit.model.contract import (
    ChangedTest,
    Contract,
    ContractType,
    Criterion,
    Evidence,
    Finding,
    Plan,
    Result,
    Timing,
    Verdict,
)
from remit.model.deferred import UNCHANGED, DebtCause
from remit.model.ids import TaskId
from remit.model.proof import ProofState, partly_verified, proof_of
from remit.model.reply import AttemptOutcome, SpecialistClaim, SpecialistJob, ToolCall
from remit.model.review import Review, ReviewAnswer
from remit.model.run import Done, Later, Outcome, Wait
from remit.model.status import Reason, Status
from remit.model.task import Task
from remit.plan import Planner
from remit.ports import OnText, Permit
from remit.run import RunPorts, run
from remit.run.run_ports import CodeWorkPorts
from remit.specialist.specialist_pool import ProjectSpecialists, SpecialistPool, WorkResult
from remit.specialist.tree import Worktree
from remit.testing import FrozenClock, MemorySteps, PowerCut
from remit.verify import Verifier
from tests.soak import SOAK
from tests.specialist.repository import git, repository, worktrees
from tests.stage import NoRecall, stage

ID = TaskId("task-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA")
TASK = replace(stage().memory.task, id=ID)
GOOD = "x = 2\n"
BAD = "x = 3\n"
PROVES = Contract(ContractType.VERIFIABLE, (Criterion("unit-test", "x is two", "x"),))
LINTED = Contract(ContractType.VERIFIABLE, (Criterion("lint", "x is two"), *PROVES.criteria))
ADVICE = Contract(ContractType.ADVISORY)
LATE = Contract(
    ContractType.VERIFIABLE,
    (*PROVES.criteria, Criterion("e2e", "It works", timing=Timing.DEFERRED)),
)

Turn = Callable[[Path, SpecialistJob, Permit], SpecialistClaim]


def writes(text: str, said: str = "I did it.", name: str = "app.py") -> Turn:
    def turn(folder: Path, _: SpecialistJob, __: Permit) -> SpecialistClaim:
        (folder / name).write_text(text)
        return SpecialistClaim(said, session="thread-1")

    return turn


def ends(outcome: AttemptOutcome, error: str = "no") -> Turn:
    return lambda *_: SpecialistClaim("", outcome, "thread-1", error)


@dataclass
class Scripted:
    """A specialist who does one thing after the other."""

    name: str
    turns: list[Turn]
    capabilities: frozenset[str] = frozenset()
    jobs: list[SpecialistJob] = field(default_factory=list)

    async def work(self, job: SpecialistJob, emit: OnText, permit: Permit) -> SpecialistClaim:
        self.jobs.append(job)
        await emit(f"{self.name} works")
        return self.turns[len(self.jobs) - 1](Path(job.workspace), job, permit)


class IsTwo:
    """A check that reads the file for itself, whatever anybody claims."""

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del task
        text = (Path(evidence.workspace or "") / "app.py").read_text()
        if text == GOOD:
            return Finding(criterion.activity, Result.PASS)
        return Finding(criterion.activity, Result.FAIL, f"{text.strip()!r} is not two")


class Shopfloor:
    def __init__(self, tmp_path: Path, people: Sequence[Scripted], contract: Contract) -> None:
        self.clock = FrozenClock()
        self.late: list[tuple[str, tuple[str, ...]]] = []
        self.debts: list[tuple[tuple[str, ...], DebtCause, str]] = []
        self.repo = repository(tmp_path / "shop")
        trees = worktrees(tmp_path)
        self.people = people
        names = {each.name: each for each in people}
        shops = {"shop": ProjectSpecialists(str(self.repo), tuple(names))}
        specialists = SpecialistPool(shops, names, trees, self.clock)
        verifier = Verifier({"unit-test": IsTwo()})

        async def checks(_: Task, __: Worktree, ___: tuple[ChangedTest, ...]) -> Verifier:
            return verifier

        code_ports = CodeWorkPorts(
            specialists, checks, self._real, self._now, self._put_off, self._owe
        )
        courier = Courier({})
        self.rooms = RunPorts(
            Planner(), NoRecall(), Thinker(NoBrain(), {}), verifier, courier, code_ports=code_ports
        )
        task = replace(
            TASK, delivery=(), contract=contract, assigned_agent="project:shop", title="Make x two"
        )
        self.memory = MemorySteps(replace(task, status=Status.RUNNING))

    async def _put_off(self, task: Task, branch: str, paths: tuple[str, ...]) -> int:
        del task
        self.late.append((branch, paths))
        return 1

    async def _owe(self, task: Task, paths: tuple[str, ...], owes: DebtCause, reason: str) -> int:
        del task
        self.debts.append((paths, owes, reason))
        return len(paths)

    async def _real(self, task: Task, plan: Plan, tree: Worktree, left: WorkResult) -> Contract:
        del task, tree, left
        assert plan.contract is not None
        return plan.contract

    async def _now(self) -> datetime:
        return self.clock.now()

    async def go(self) -> Outcome:
        return await run(self.rooms, self.memory)

    async def asked(self) -> Review:
        outcome = await self.go()
        assert isinstance(outcome, Wait), outcome
        return outcome.review

    async def merged(self) -> Outcome:
        self.memory.decide(await self.asked(), ReviewAnswer.APPROVE)
        return await self.go()

    @property
    def text(self) -> str:
        return (self.repo / "app.py").read_text()

    @property
    def outcomes(self) -> list[str]:
        return [name for name in self.memory.trail if name.startswith("execute_tool")]


@pytest.fixture
def floor(tmp_path: Path) -> Callable[..., Shopfloor]:
    def opened(*people: Scripted, contract: Contract = PROVES) -> Shopfloor:
        return Shopfloor(tmp_path, people, contract)

    return opened


Floor = Callable[..., Shopfloor]


async def test_what_is_left_on_its_branch_is_there_and_the_folder_is_as_it_was(
    floor: Floor,
) -> None:
    shop = floor(Scripted("ada", [writes(GOOD)]))

    shop.memory.decide(await shop.asked(), ReviewAnswer.DROP)
    done = await shop.go()

    assert isinstance(done, Done)
    assert "It stands on remit/" in done.summary
    assert shop.text == "x = 1\n"
    assert git(shop.repo, "show", f"remit/{shop.memory.task.id}:app.py") == GOOD.strip()


@pytest.mark.parametrize(
    ("turns", "jobs", "half"),
    [
        ([writes(BAD, "DONE: half of it"), writes(BAD)], 2, True),
        ([writes(f"x = {n}\n") for n in (3, 4, 5, 6, 7)], 4, False),  # a try and three fixes
        ([ends(AttemptOutcome.CRASH, f"segfault {n}") for n in (1, 2)], 2, False),
        # Who says that it is done and changed nothing is not believed.
        ([lambda *_: SpecialistClaim("All done!")] * 2, 2, False),
    ],
    ids=["same error", "fixes", "crashes", "idle"],
)
async def test_what_fails_goes_to_the_next_with_a_checkpoint(
    floor: Floor, turns: list[Turn], jobs: int, *, half: bool
) -> None:
    ada, ben = Scripted("ada", turns), Scripted("ben", [writes(GOOD)])
    shop = floor(ada, ben)

    await shop.merged()

    assert [len(ada.jobs), len(ben.jobs)] == [jobs, 1]
    assert "ada worked on this before" in ben.jobs[0].prompt
    assert ("half of it" in ben.jobs[0].prompt) is half
    assert ben.jobs[0].session is None
    assert shop.text == GOOD


async def test_a_limit_is_waited_for_and_no_try_is_lost_over_a_restart(floor: Floor) -> None:
    ada = Scripted("ada", [ends(AttemptOutcome.RATE_LIMIT), writes(GOOD)])
    shop = floor(ada)

    first = await shop.go()
    assert first == Later("ada has reached a limit and rests.", 30.0)
    shop.clock.advance(timedelta(seconds=20))
    assert await shop.go() == Later("ada has reached a limit and rests.", 10.0)
    assert len(ada.jobs) == 1
    shop.clock.advance(timedelta(seconds=10))
    await shop.merged()
    assert shop.text == GOOD


async def test_a_full_context_begins_a_fresh_session_with_a_checkpoint(floor: Floor) -> None:
    ada = Scripted("ada", [ends(AttemptOutcome.CONTEXT_OVERFLOW, "too long"), writes(GOOD)])
    shop = floor(ada)

    await shop.merged()

    assert [job.session for job in ada.jobs] == [None, None]
    assert "## What was done before you" in ada.jobs[1].prompt


async def test_what_the_owner_does_by_hand_is_checked_like_any_other_work(floor: Floor) -> None:
    shop = floor(Scripted("ada", [writes(BAD)] * 2))
    folder = Path((await shop.asked()).evidence.rpartition(": ")[2])

    shop.memory.decide(await shop.asked(), ReviewAnswer.ARRIVED)
    again = await shop.asked()
    assert "not proven yet" in again.question

    (folder / "app.py").write_text(GOOD)
    shop.memory.decide(again, ReviewAnswer.ARRIVED)
    await shop.merged()
    assert shop.text == GOOD


async def test_where_nothing_was_changed_nothing_is_checked_later(floor: Floor) -> None:
    idle = Contract(ContractType.SKIP, LATE.criteria[1:])
    shop = floor(Scripted("ada", [lambda *_: SpecialistClaim("All is well.")] * 2), contract=idle)

    shop.memory.decide(await shop.asked(), ReviewAnswer.ARRIVED)
    await shop.go()

    assert shop.memory.task.verdict is not None
    assert shop.memory.task.verdict.findings[0].error == UNCHANGED
    assert shop.late == []


async def test_a_no_is_told_to_who_asked(floor: Floor) -> None:
    call = ToolCall("1", "execute", {"command": "make deploy"})
    ada = Scripted(
        "ada",
        [
            lambda *_: SpecialistClaim("", AttemptOutcome.NEEDS_OWNER, "t", "?", needs=call),
            writes(GOOD),
        ],
    )
    shop = floor(ada)

    shop.memory.decide(await shop.asked(), ReviewAnswer.DROP, "not on a Friday")
    await shop.merged()

    assert "has not allowed" in ada.jobs[1].prompt
    assert "not on a Friday" in ada.jobs[1].prompt
    assert ada.jobs[1].allowed == ()


async def test_a_link_out_of_the_folder_is_no_work_to_be_kept(floor: Floor) -> None:
    def links(folder: Path, _: SpecialistJob, __: Permit) -> SpecialistClaim:
        (folder / "app.py").write_text(GOOD)
        (folder / "way").unlink(missing_ok=True)
        (folder / "way").symlink_to("/etc/passwd")
        return SpecialistClaim("done")

    shop = floor(Scripted("ada", [links, links]))

    asked = await shop.asked()

    assert asked.reason is Reason.VERIFICATION
    assert "leads out of the folder" in asked.evidence


async def test_a_power_cut_around_any_step_loses_nothing_and_repeats_no_merge(
    floor: Floor, tmp_path: Path
) -> None:
    def mends(folder: Path, job: SpecialistJob, permit: Permit) -> SpecialistClaim:
        """Wrong at first; a try that was cut off is made again on what it left."""
        mended = "is not two" in job.prompt
        return writes(GOOD if mended else BAD)(folder, job, permit)

    whole = floor(Scripted("ada", [mends] * 2))
    await whole.merged()
    names = list(dict.fromkeys(whole.memory.trail))
    assert {"workspace", "execute_tool", "verify:1", "keep_work", "merge:0"} <= set(names)

    for at, name in enumerate(names if SOAK else names[::2]):
        for before in (True, False) if SOAK else (at % 2 == 0,):
            people = [Scripted("ada", [mends] * 4)]
            shop = Shopfloor(tmp_path / f"{at}{before}", people, PROVES)
            shop.memory.cut_before = name if before else None
            shop.memory.cut_after = None if before else name
            await _to_the_end(shop)
            assert shop.text == GOOD, name
            assert git(shop.repo, "rev-list", "--count", "HEAD") == "2", name


async def _to_the_end(shop: Shopfloor) -> None:
    for _ in range(10):
        try:
            outcome = await shop.go()
        except PowerCut:
            continue
        if isinstance(outcome, Done):
            return
        assert isinstance(outcome, Wait), outcome
        shop.memory.decide(outcome.review, ReviewAnswer.APPROVE)
    pytest.fail("it came to no end")


class OldTests:
    """A check that fails as tests were, and passes once their change was agreed to."""

    def __init__(self, agreed: tuple[ChangedTest, ...]) -> None:
        self._agreed = agreed

    async def check(self, task: Task, criterion: Criterion, evidence: Evidence) -> Finding:
        del task
        folder = Path(evidence.workspace or "")
        changed = tuple(ChangedTest(name, "0f") for name in ("tests/test_app.py",))
        if (folder / "tests/test_app.py").exists() and self._agreed != changed:
            return Finding(criterion.activity, Result.FAIL, "test_x: no", intended=changed)
        return Finding(criterion.activity, Result.PASS, ran=2, of=9, still_failing=1)


def _asks_about_tests(shop: Shopfloor) -> Shopfloor:
    async def checks(_: Task, __: Worktree, agreed: tuple[ChangedTest, ...]) -> Verifier:
        return Verifier({"unit-test": OldTests(agreed), "lint": IsTwo()})

    assert shop.rooms.code_ports is not None
    code_ports = replace(shop.rooms.code_ports, verifier=checks)
    shop.rooms = replace(shop.rooms, code_ports=code_ports)
    return shop


def both(folder: Path, _: SpecialistJob, __: Permit) -> SpecialistClaim:
    write_both(folder)
    return SpecialistClaim("I did it.", session="thread-1")


def write_both(folder: Path) -> None:
    (folder / "app.py").write_text(GOOD)
    (folder / "tests").mkdir(exist_ok=True)
    (folder / "tests/test_app.py").write_text("assert x == 2\n")


async def test_a_change_of_tests_counts_once_the_owner_agrees_to_it(floor: Floor) -> None:
    shop = _asks_about_tests(floor(Scripted("ada", [both])))

    asked = await shop.asked()
    assert asked.about is not None
    assert asked.about.startswith("intended:")
    assert "tests/test_app.py" in asked.evidence
    assert "b/app.py" not in asked.evidence
    assert shop.debts == []

    shop.memory.decide(asked, ReviewAnswer.APPROVE)
    merge = await shop.asked()
    said = "1 of 1 checks passed, 1 tests failed before and still fail, partly verified, 2 of 9"
    assert said in merge.question
    assert proof_of(replace(shop.memory.task, status=Status.COMPLETED)) is ProofState.PARTLY


async def test_a_change_of_tests_that_was_not_meant_goes_back_with_what_else_failed(
    floor: Floor,
) -> None:
    def without(folder: Path, _: SpecialistJob, __: Permit) -> SpecialistClaim:
        (folder / "tests/test_app.py").unlink()
        return SpecialistClaim("I took it back.", session="thread-1")

    ada = Scripted("ada", [both, without])
    shop = _asks_about_tests(floor(ada, contract=LINTED))

    shop.memory.decide(await shop.asked(), ReviewAnswer.DROP)
    await shop.asked()

    assert "the change of these tests is not intended" in ada.jobs[1].prompt


async def test_tests_are_not_asked_about_where_something_else_fails(floor: Floor) -> None:
    def badly(folder: Path, job: SpecialistJob, permit: Permit) -> SpecialistClaim:
        both(folder, job, permit)
        (folder / "app.py").write_text(BAD)
        return SpecialistClaim("I did it.", session="thread-1")

    ada = Scripted("ada", [badly, both])
    shop = _asks_about_tests(floor(ada, contract=LINTED))

    asked = await shop.asked()

    assert len(ada.jobs) == 2
    assert "is not two" in ada.jobs[1].prompt
    assert (asked.about or "").startswith("intended:")


async def test_tests_that_the_owner_changed_by_hand_are_asked_about_too(floor: Floor) -> None:
    shop = _asks_about_tests(floor(Scripted("ada", [ends(AttemptOutcome.CRASH)] * 2)))
    asked = await shop.asked()
    write_both(Path(asked.evidence.rpartition(": ")[2].strip()))

    shop.memory.decide(asked, ReviewAnswer.ARRIVED)

    assert ((await shop.asked()).about or "").startswith("intended:")


def test_how_much_was_verified_is_said_where_not_all_tests_ran() -> None:
    some = Finding("unit-test", Result.PASS, ran=28, of=1418)
    unknown = replace(some, of=None)

    assert partly_verified(Verdict((some,))) == "partly verified, 28 of 1,418 tests"
    assert partly_verified(Verdict((unknown,))) == "partly verified, 28 tests"
    assert partly_verified(Verdict((replace(some, of=28),))) == ""
