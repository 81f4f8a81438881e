"""Code work: a specialist does it, checks verify it, and it is handed on while they fail.

Each attempt is recorded with its changes and findings, so a leg that resumes after a crash or a
decision replays them at once and continues.
"""

import re
from collections.abc import Collection
from datetime import timedelta
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from remit import review
from remit.errors import BadInput, NotFound
from remit.model.codec import first_few
from remit.model.contract import (
    ChangedTest,
    Contract,
    Evidence,
    Finding,
    ItemStatus,
    Plan,
    Result,
    Verdict,
    WorkItem,
)
from remit.model.deferred import TESTS, UNCHANGED, UNMERGED, DebtCause, drop_deferred, is_late
from remit.model.proof import TAKEN, partly_verified
from remit.model.reply import Ask, AttemptOutcome
from remit.model.review import Review, ReviewAnswer
from remit.model.run import Done, Fail, Later, Outcome, Retry, Wait, first_line
from remit.model.status import Actor, Reason, Status
from remit.ports import Steps
from remit.run import work
from remit.run.run_ports import CodeWorkPorts, RunPorts
from remit.run.send import deliver
from remit.specialist import specialist_pool as tables
from remit.specialist.chain import Exhausted, RetryAgent
from remit.specialist.specialist_pool import MergeResult, SpecialistTurn, WorkHistory, WorkResult
from remit.specialist.tree import Worktree

_MOST_SHOWN = 200_000  # characters of a diff shown to the owner
_MOST_NAMED = 5  # files
_FOLDER_GONE = "The folder of this work is gone, or on another machine; it is done again."


class ProvenWork(Struct, frozen=True):
    """Work that may be kept, and its result text."""

    left: WorkResult
    said: str
    verdict: Verdict | None


class CodeWork(Struct, frozen=True):
    """A piece of code work: the plan, the folder and the ports."""

    plan: Plan
    tree: Worktree
    code_ports: CodeWorkPorts
    steps: Steps


class AgreedContract(Struct, frozen=True):
    """The contract agreed before the work began. `text` is in the journal."""

    text: str
    digest: str


async def delegate(plan: Plan, rooms: RunPorts, steps: Steps) -> Outcome:
    """Have the work done, verify it, keep it, and merge it if the owner agrees."""
    piece = await _begun(plan, rooms, steps)
    if isinstance(piece, Fail | Retry):
        return piece
    proven = await _prove(piece)
    steps.keep(spent=await rooms.thinker.spent(steps.task))
    if not isinstance(proven, ProvenWork):
        return proven
    steps.keep(work=_all_done(plan), tool_output=proven.said)
    sentence = await _keep_work(proven, piece)
    if isinstance(sentence, Wait):
        return sentence
    if not plan.delivery:
        return Done(first_line(sentence))
    # A branch is named after its task, and the gate would hold a task id.
    sentence = sentence.replace(piece.tree.branch, "a branch of its own")
    judged = await work.judge_unmarked_text(sentence, rooms, steps)
    return Wait(judged) if isinstance(judged, Review) else await deliver(judged, rooms, steps)


async def _begun(plan: Plan, rooms: RunPorts, steps: Steps) -> CodeWork | Fail | Retry:
    """Return the folder to work in; the contract is recorded before anybody enters it."""
    agreed = await steps.look("agreed", _freeze_contract, plan.contract)
    if rooms.code_ports is None:
        return Fail("There is no project; name the folder in [projects.NAME] of the settings.")
    if agreed != await _freeze_contract(plan.contract):
        return Fail("The contract is not the one that was agreed on; nothing was taken over.")
    try:
        tree = await steps.do("workspace", rooms.code_ports.specialists.open, steps.task)
    except (BadInput, NotFound) as wrong:  # a retry would fail the same way
        return Fail(str(wrong))
    if not steps.has("tidy"):
        here = await rooms.code_ports.specialists.find_here(tree)
        if here is None:
            return Retry(_FOLDER_GONE, anew=True)
        tree = here
    return CodeWork(plan, tree, rooms.code_ports, steps)


async def _freeze_contract(contract: Contract | None) -> AgreedContract:
    digest = contract.digest if contract else ""
    many = len(contract.criteria) if contract else 0
    kind = f"{contract.type.value}, {many} criteria" if contract else "none"
    return AgreedContract(f"Contract: {kind}, sha256 {digest}", digest)


async def _prove(piece: CodeWork) -> ProvenWork | Outcome:
    """Try until the work is verified or no specialist is left."""
    plan, tree, steps = piece.plan, piece.tree, piece.steps
    specialists = piece.code_ports.specialists
    course, last = WorkHistory(), Verdict()
    for n in count():
        choice = specialists.follow(steps.task, course, plan.contract)
        if isinstance(choice, Exhausted):
            return await _by_hand(n, choice, last, piece)
        if isinstance(choice, RetryAgent) and (wait := await _wait_for_limit(n, choice, piece)):
            return wait
        name, inputs = f"execute_tool:{n}" if n else "execute_tool", (plan.contract, course, choice)
        tried = await steps.do(name, specialists.work, steps.task, tree, *inputs, steps.tell)
        left = await steps.do(f"look:{n}", specialists.look, steps.task, tree)
        tried, verdict = tables.require_changes(tried, left, plan.contract), None
        if tried.claim.outcome is AttemptOutcome.SUCCESS:
            judged = await _judge_work(str(n), last, left, tried.claim.text, piece)
            if not isinstance(judged, Verdict):
                return judged
            verdict = judged
        course, last = course.after(tried, left, verdict), verdict or last
        if tried.claim.outcome is AttemptOutcome.NEEDS_OWNER:
            allowed = await _apply_permission(n, tried, course, steps)
            if isinstance(allowed, Review):
                return Wait(allowed)
            course = allowed
    raise AssertionError  # pragma: no cover - count() does not end


async def _wait_for_limit(n: int, choice: RetryAgent, piece: CodeWork) -> Later | None:
    """Wait for a specialist that hit a rate limit; the start of the wait survives restarts."""
    code_ports, steps = piece.code_ports, piece.steps
    if not choice.delay or steps.has(f"execute_tool:{n}"):
        return None
    began = await steps.do(f"rest:{n}", code_ports.now)
    left = (began + timedelta(seconds=choice.delay) - await code_ports.now()).total_seconds()
    return Later(f"{choice.agent} has reached a limit and rests.", left) if left > 0 else None


async def _apply_permission(
    n: int, tried: SpecialistTurn, course: WorkHistory, steps: Steps
) -> WorkHistory | Review:
    """Return the history after the owner's answer to a call or question; else the question."""
    claim, place = tried.claim, f"work:{n}"
    if claim.needs is None:
        words = claim.error or f"{tried.agent} needs a word from you."
        question = review.question(steps.task, place, claim.asks or Ask(Reason.INPUT, words))
    else:
        question = review.call(steps.task, place, claim.needs, f"{tried.agent} asks. ")
    decision = await steps.decided(question.key)
    if decision is None:
        return question
    yes = decision.answer is ReviewAnswer.APPROVE
    return tables.allow_call(course, claim, yes=yes, word=decision.text or "")


async def _check_changes(
    place: str, last: Verdict, left: WorkResult, piece: CodeWork
) -> Verdict | Review | None:
    """Return what the checks say about the actual changes; None if no check applies."""
    plan, tree, code_ports, steps = piece.plan, piece.tree, piece.code_ports, piece.steps
    if left.refused:
        return Verdict(tuple(Finding("workspace", Result.FAIL, why) for why in left.refused))
    real = await steps.do(f"contract:{place}", code_ports.real, steps.task, plan, tree, left)
    steps.keep(contract=real)
    held = replace(piece, plan=replace(plan, contract=real))
    verdict = await _verdict(place, last, left, held)
    if verdict is None or verdict.passed or not verdict.intended:
        return verdict
    why = f"{first_line(verdict.complaint)}."
    question = review.ask_about_changed_tests(steps.task, verdict.intended, why, "")
    decision = await steps.decided(question.key)
    if decision is None:
        paths = {each.path for each in verdict.intended}
        diff = _only(await code_ports.specialists.diff(tree, left), paths)
        return replace(question, evidence=diff[:_MOST_SHOWN])
    if decision.answer is ReviewAnswer.APPROVE:
        return await _verdict(f"{place}:intended", last, left, held, verdict.intended)
    return _not_intended(verdict)


async def _verdict(
    place: str,
    last: Verdict,
    left: WorkResult,
    held: CodeWork,
    intended: tuple[ChangedTest, ...] = (),
) -> Verdict | None:
    """Run the checks, once per place; `intended` are changed tests that the owner confirmed."""
    tree, code_ports, steps = held.tree, held.code_ports, held.steps
    verifier = await code_ports.verifier(steps.task, tree, intended)
    if not verifier.applies(held.plan):
        return None
    if not steps.has(f"verify:{place}"):
        await steps.move(Status.VERIFYING, Actor.EXECUTOR)
    evidence = Evidence("", workspace=tree.folder, changed=left.paths)

    async def verified() -> Verdict:
        found = await verifier.verify(steps.task, held.plan, evidence)
        if TESTS.intersection(found.failed) and not found.intended:
            await code_ports.owe(steps.task, left.paths, DebtCause.CHECK, "")
        now = await code_ports.specialists.look(steps.task, tree)
        return found if now.tree == left.tree else replace(found, findings=(_MOVED,))

    verdict = (await steps.do(f"verify:{place}", verified)).after(last)
    steps.keep(verdict=verdict)
    if not verdict.passed and steps.task.status is Status.VERIFYING:
        await steps.move(Status.RUNNING, Actor.VERIFIER)
    return verdict


def _not_intended(verdict: Verdict) -> Verdict:
    """Return the verdict with the owner's no added, for the next specialist."""
    sentence = (
        "The owner says that the change of these tests is not intended; keep them as they were."
    )
    return replace(
        verdict,
        findings=tuple(
            replace(each, error=f"{each.error}\n{sentence}") if each.intended else each
            for each in verdict.findings
        ),
    )


def _only(diff: str, paths: Collection[str]) -> str:
    """Return the part of a diff that concerns these files."""
    pieces = re.split(r"^(?=diff --git )", diff, flags=re.MULTILINE)
    return "".join(piece for piece in pieces if _is_about_paths(piece, paths))


def _is_about_paths(piece: str, paths: Collection[str]) -> bool:
    head = piece.partition("\n")[0]
    return any(head.endswith(f" b/{path}") for path in paths)


# The kept files must be the checked ones; a program may still be writing.
_MOVED = Finding("workspace", Result.FAIL, "files were changed while they were checked")


async def _judge_work(
    place: str, last: Verdict, left: WorkResult, text: str, piece: CodeWork
) -> ProvenWork | Wait | Verdict:
    """Return work that may be kept, a question to the owner, or the failed verdict."""
    if accepted := await _accepted_work(place, left, piece):
        return accepted
    found = await _check_changes(place, last, left, piece)
    if isinstance(found, Review):
        return Wait(found)
    return ProvenWork(left, text, found) if found is None or found.passed else found


async def _accepted_work(place: str, left: WorkResult, piece: CodeWork) -> ProvenWork | None:
    """Return work that the owner accepted because its check broke; it is not checked again."""
    steps = piece.steps
    if left.refused or steps.has(f"verify:{place}"):
        return None
    decision = await steps.decided(review.unproven_key(steps.task))
    return await _accept_unproven(place, left, decision.text or "", piece) if decision else None


async def _accept_unproven(place: str, left: WorkResult, word: str, piece: CodeWork) -> ProvenWork:
    """Record that the owner accepts the work unproven: the files get debt, with the reason."""
    owed = (piece.steps.task, left.paths, DebtCause.SKIP, word)
    await piece.steps.do(f"owe:{place}", piece.code_ports.owe, *owed)
    return ProvenWork(left, f"{TAKEN}{word}", None)


async def _by_hand(
    n: int, choice: Exhausted, last: Verdict, piece: CodeWork
) -> ProvenWork | Outcome:
    """Ask the owner when no specialist is left: retry, do it by hand, or accept it unproven."""
    tree, specialists, steps = piece.tree, piece.code_ports.specialists, piece.steps
    for again in count():
        place = f"{n}.{again}"
        facts = [*choice.tried, f"The work as it stands: {tree.folder}"]
        question = review.ask_after_all_tried(steps.task, place, choice.why, facts)
        decision = await steps.decided(question.key)
        if decision is None:
            return Wait(question)
        left = await steps.do(f"look:{place}", specialists.look, steps.task, tree)
        if decision.answer is ReviewAnswer.DROP and not left.refused:
            return await _accept_unproven(place, left, decision.text or "", piece)
        judged = await _judge_work(place, last, left, "Done by the owner.", piece)
        if not isinstance(judged, Verdict):
            return judged
        choice, last = replace(choice, why=f"It is not proven yet: {judged.complaint}."), judged
    raise AssertionError  # pragma: no cover - count() does not end


async def _keep_work(proven: ProvenWork, piece: CodeWork) -> str | Wait:
    """Commit the work to its branch, merge it if the owner agrees, and return the result."""
    tree, code_ports, steps = piece.tree, piece.code_ports, piece.steps
    left, specialists = proven.left, code_ports.specialists
    if not left.paths:
        return await _end_unchanged(proven, piece)
    at = await steps.do("kept_at", code_ports.now)
    commit = await steps.do("keep_work", specialists.keep, steps.task, tree, left, at)
    stands = f"{_count(len(left.paths))} changed, {_proof(proven.verdict)}."
    why = ""
    for tries in count():
        asked = f"{why or stands}{_tests(left)}"
        question = review.merge(steps.task, tree.branch, commit, tries, asked, "")
        decision = await steps.decided(question.key)
        if decision is None:
            diff = (await specialists.diff(tree, left))[:_MOST_SHOWN]
            return Wait(replace(question, evidence=diff))
        if decision.answer is ReviewAnswer.DROP:
            branch = await steps.do("publish", specialists.publish, tree)
            why, sentence = "", f"{stands} It stands on {branch}."
            _never_checked(steps, UNMERGED)
        else:
            merged = await steps.do(f"merge:{tries}", specialists.merge, tree, commit)
            why, sentence = (
                merged.why,
                f"{stands} Merged into {merged.branch}.{_merge_note(merged)}",
            )
            await _put_off(merged, left, piece)
        if not why:
            await steps.do("tidy", specialists.close, tree)
            return sentence
    raise AssertionError  # pragma: no cover - count() does not end


async def _end_unchanged(proven: ProvenWork, piece: CodeWork) -> str:
    """Return what was said, because there are no changes to merge."""
    _never_checked(piece.steps, UNCHANGED)
    await piece.steps.do("tidy", piece.code_ports.specialists.close, piece.tree)
    return proven.said.strip() or "Nothing was changed."


async def _put_off(merged: MergeResult, left: WorkResult, piece: CodeWork) -> None:
    """Store the deferred criteria for the branch that the work is on now."""
    steps, verdict = piece.steps, piece.steps.task.verdict
    late = verdict is not None and any(is_late(each) for each in verdict.findings)
    if late and not merged.why:
        put_off = piece.code_ports.put_off
        await steps.do("put_off", put_off, steps.task, merged.branch, left.paths)


def _never_checked(steps: Steps, why: str) -> None:
    """Drop the deferred criteria: they are checked on merged work or not at all."""
    if steps.task.verdict is not None:
        steps.keep(verdict=drop_deferred(steps.task.verdict, why))


def _merge_note(merged: MergeResult) -> str:
    return " What you did since was not checked together with it." if merged.joined else ""


def _tests(left: WorkResult) -> str:
    """Name the changed tests that the owner must not overlook in a long diff."""
    if not left.tests:
        return ""
    named = first_few(left.tests, _MOST_NAMED)
    return f" It changes tests that were there before: {named}."


def _all_done(plan: Plan) -> tuple[WorkItem, ...]:
    return tuple(WorkItem(item.description, ItemStatus.COMPLETED) for item in plan.work)


def _count(files: int) -> str:
    return "1 file" if files == 1 else f"{files} files"


def _proof(verdict: Verdict | None) -> str:
    if verdict is None:
        return "not verified"
    passed = sum(finding.result is Result.PASS for finding in verdict.findings)
    skipped = sum(finding.result is Result.SKIPPED for finding in verdict.findings)
    made = f"{passed} of {len(verdict.findings) - skipped} checks passed"
    still = max((finding.still_failing for finding in verdict.findings), default=0)
    parts = (
        made,
        f"{skipped} skipped" if skipped else "",
        f"{still} tests failed before and still fail" if still else "",
        partly_verified(verdict),
    )
    return ", ".join(filter(None, parts))
