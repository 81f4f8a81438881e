"""THE SPINE, read first: one task from plan to receipts.

A run is a leg: it ends as Done, Wait, Retry or Fail. Waiting for a person is not a sleeping run:
the leg ends, the decision starts the next one, and recorded steps are skipped at once. So the order
below also holds after a crash, a restart or three days of waiting.

The steps before and beside the work are here too: agree on the contract, check conditions (anything
but a yes sends nothing), write an accepted contact rule, ask about lessons.
"""

import re
from enum import StrEnum
from functools import partial
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.gate import Author
from remit.model.contact_rule import ContactRule, rule_of, rule_review
from remit.model.contract import Contract, ContractType, Evidence, GeneratedFrom
from remit.model.likeness import Lesson, LessonResult, UnfitLesson, looks_back
from remit.model.plan import ItemStatus, Plan, WorkItem
from remit.model.reply import Ask, Memory, Reply
from remit.model.review import Review, ReviewAnswer
from remit.model.run import Done, Fail, Outcome, Retry, Wait, first_line
from remit.model.status import Actor, Reason, Status
from remit.model.task import Task
from remit.model.veto import Condition
from remit.ports import Steps
from remit.reflect.reflector import Reflector
from remit.review import ask
from remit.run.delegate import delegate
from remit.run.rooms import GatedText, RunPorts
from remit.run.send import deliver, settle_doubts
from remit.run.work import WorkedReply, WorkRequest, work, written
from remit.specialist.specialist_pool import is_code


async def reflect(rooms: RunPorts, steps: Steps) -> Outcome:
    """Ask one question for each lesson, in order; only a yes changes a file."""
    mirror = rooms.mirror
    if mirror is None:
        return Fail("There is nothing to look back with here.")
    looked = await steps.do("execute_tool", mirror.look, steps.task)
    steps.keep(tool_output=looked.said, spent=await rooms.thinker.spent(steps.task))
    settled = list[LessonResult]()
    for place, lesson in enumerate(looked.lessons):
        came = await _settled(place, lesson, mirror, steps)
        if isinstance(came, Review):
            return Wait(came)
        settled.append(came)
    summary = _came_to(settled)
    steps.keep(tool_output=f"{summary}\n{looked.said}")
    return Done(summary)


async def _settled(
    place: int, lesson: Lesson, mirror: Reflector, steps: Steps
) -> LessonResult | Review:
    """Return what became of a lesson, or the question about it.

    The question is bound to the new text of the file. If the file changed since, the text differs
    and the question is asked again.
    """
    name = f"lesson:{place}"
    if steps.has(name):
        # A recorded step returns its stored result, whatever the arguments are.
        return await steps.do(name, mirror.leave, steps.task, lesson, "")
    drafted = await mirror.draft(lesson)
    if isinstance(drafted, UnfitLesson):
        return await steps.do(name, mirror.leave, steps.task, lesson, drafted.why)
    question = ask.lesson(steps.task, place, lesson, drafted)
    decision = await steps.decided(question.key)
    if decision is None:
        return question
    if decision.answer is ReviewAnswer.APPROVE:
        return await steps.do(name, mirror.accept, steps.task, lesson, drafted.digest)
    return await steps.do(name, mirror.leave, steps.task, lesson, "you left it out")


def _came_to(settled: list[LessonResult]) -> str:
    if not settled:
        return "Nothing to learn."
    taken = sum(each.taken for each in settled)
    left = len(settled) - taken
    return f"{taken} of {len(settled)} lessons taken." if left else f"{_count(taken)} taken."


def _count(lessons: int) -> str:
    return "1 lesson" if lessons == 1 else f"{lessons} lessons"


async def put_rule(rule: ContactRule, rooms: RunPorts, steps: Steps) -> Outcome:
    """Write exactly the accepted rule; without a yes nothing is written."""
    question = rule_review(steps.task, rule)
    decision = await steps.decided(question.key)
    if decision is None or decision.answer is not ReviewAnswer.APPROVE:
        return Wait(question)
    if rooms.put_rule is None:
        return Fail("There is no contact book here.")
    return Done(await steps.do("put_rule", rooms.put_rule, rule))


_STEP: Final = "check_condition"
_ANSWER: Final = re.compile(
    r"^[ \t>*_]*ANSWER:[ \t*_]*(yes|no|unknown)\b[ \t*_.:,;–—-]*(.*)$", re.IGNORECASE | re.MULTILINE
)
_ORDER: Final = (
    "Find out whether this holds now, and do nothing else: “{0}”. Your owner said it in: “{1}”. "
    "If you cannot look it up, it is unknown; do not guess. End with one line of this form:\n"
    "ANSWER: yes, no or unknown; then where you know it from"
)
_MOST_SOURCE: Final = 200  # characters


class ConditionResult(StrEnum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class ObservedCondition(Struct, frozen=True):
    holds: ConditionResult
    source: str


async def unmet_condition(rooms: RunPorts, steps: Steps) -> Outcome | None:
    """Return how the run ends because a condition is not met; None if it may continue.

    The brain answers yes, no or unknown, with its source. Without a brain the owner is asked at
    each run.
    """
    for place, condition in enumerate(steps.task.only_if):
        found = await _observed(place, condition, rooms, steps)
        if isinstance(found, Review):
            return Wait(found)
        if found.holds is not ConditionResult.YES:
            return Done(_sentence(condition, found))
    return None


async def _observed(
    place: int, condition: Condition, rooms: RunPorts, steps: Steps
) -> ObservedCondition | Review:
    if not rooms.thinker.has_brain:
        return await _asked(place, condition, steps)
    errand = WorkRequest(f"{_STEP}:{place}", f"condition:{place}:", partial(_errand, condition))
    plan = Plan((WorkItem(errand.of(steps.task).instructions),))
    worked = await work(plan, Memory(), rooms, steps, errand)
    return worked if isinstance(worked, Review) else read_answer(worked.reply.text)


def _errand(condition: Condition, task: Task) -> Task:
    """Return the task as the brain sees it: only the condition to find out."""
    said = task.request.text if task.request else task.instructions
    words = _ORDER.format(condition.words, said)
    title = f"Does it hold: {condition.words}"[:120]
    return replace(task, title=title, instructions=words, work=(), delivery=(), contract=None)


async def _asked(place: int, condition: Condition, steps: Steps) -> ObservedCondition | Review:
    """Return the owner's answer to the condition, or the question."""
    question = ask.condition(steps.task, place, condition.words)
    decision = await steps.decided(question.key)
    if decision is None:
        return question
    yes = decision.answer is ReviewAnswer.APPROVE
    return ObservedCondition(ConditionResult.YES if yes else ConditionResult.NO, "you said so")


def read_answer(reply: str) -> ObservedCondition:
    """Parse a reply: exactly one line with a source, else UNKNOWN."""
    found = _ANSWER.findall(reply)
    if len(found) != 1:
        return ObservedCondition(ConditionResult.UNKNOWN, "the assistant gave no clear answer")
    answer, source = (
        ConditionResult(found[0][0].lower()),
        " ".join(found[0][1].split())[:_MOST_SOURCE],
    )
    if answer is ConditionResult.YES and not source:
        return ObservedCondition(ConditionResult.UNKNOWN, "the assistant named no source")
    return ObservedCondition(answer, source or "the assistant named no source")


def _sentence(condition: Condition, found: ObservedCondition) -> str:
    """Return why nothing was sent, in one line."""
    how = "does not hold" if found.holds is ConditionResult.NO else "could not be confirmed"
    return f"Nothing was sent: “{condition.words}” {how} ({found.source})."


_ADVICE: Final = re.compile(r"\b(?:advisory|advice|no checks?|unchecked)\b", re.IGNORECASE)


async def agree(plan: Plan, steps: Steps) -> Plan | Review:
    """Return the plan with its contract, or the question to the owner if the contract is unclear.

    The plan is recorded before the work begins, so later files or words cannot change what was
    agreed.
    """
    contract = plan.contract
    if contract is None:
        return plan
    if plan.unsure is not None:
        question = ask.question(steps.task, "contract", Ask(Reason.INPUT, plan.unsure))
        decision = await steps.decided(question.key)
        if decision is None:
            return question
        contract = _as_said(contract, decision.text or "")
    elif plan.notice is not None and not steps.has("execute_tool"):
        await steps.tell(plan.notice)
    steps.keep(contract=contract)
    return replace(plan, contract=contract)


def _as_said(strict: Contract, said: str) -> Contract:
    """Return the contract after the owner's answer; only a clear word makes it advisory."""
    if _ADVICE.search(said):
        return replace(
            strict, type=ContractType.ADVISORY, criteria=(), generated_from=GeneratedFrom.USER
        )
    return replace(strict, generated_from=GeneratedFrom.USER)


MOST_FIXES = 3


async def run(rooms: RunPorts, steps: Steps) -> Outcome:
    """Take a task from plan to receipts. Each step survives a crash; none is done twice."""
    return await settle_doubts(rooms, steps) or await _plan(rooms, steps)


async def _plan(rooms: RunPorts, steps: Steps) -> Outcome:
    """Plan, and check the conditions: if one does not hold, nothing more is done."""
    rule = rule_of(steps.task)
    if rule is not None:
        return await put_rule(rule, rooms, steps)
    plan = await steps.look("plan_step", rooms.plan, steps.task)
    return await unmet_condition(rooms, steps) or await _choose(plan, rooms, steps)


async def _choose(plan: Plan, rooms: RunPorts, steps: Steps) -> Outcome:
    """Choose the path of the task: send, reflect, code work, or brain."""
    if plan.composed:
        return await deliver(GatedText("", Author.OWNER), rooms, steps)
    if looks_back(steps.task):
        return await reflect(rooms, steps)
    agreed = await agree(plan, steps)
    if isinstance(agreed, Review):
        return Wait(agreed)
    if is_code(steps.task):
        return await delegate(agreed, rooms, steps)
    return await _think(agreed, rooms, steps)


async def _think(plan: Plan, rooms: RunPorts, steps: Steps) -> Outcome:
    """Let the brain work; gate its deliverable, verify it, and send it."""
    memory = await steps.look("retrieve_context", rooms.recall.like, steps.task)
    steps.keep(taint=memory.taint)

    worked = await work(plan, memory, rooms, steps)
    if isinstance(worked, Review):
        return Wait(worked)
    reply = worked.reply
    steps.keep(work=_ticked(plan, reply, steps.task), tool_output=reply.text)

    if not plan.delivery:
        return await _prove(reply.text, worked, plan, rooms, steps) or Done(first_line(reply.text))
    judged = await written(reply, rooms, steps)
    if isinstance(judged, Review):
        return Wait(judged)
    unproven = await _prove(judged.text, worked, plan, rooms, steps)
    return unproven or await deliver(judged, rooms, steps)


async def _prove(
    text: str, worked: WorkedReply, plan: Plan, rooms: RunPorts, steps: Steps
) -> Outcome | None:
    """Check the work against its contract; None: it passed and may continue."""
    if not rooms.verifier.applies(plan) or await steps.decided(ask.unproven_key(steps.task)):
        return None
    if steps.task.status is Status.RUNNING:
        await steps.move(Status.VERIFYING, Actor.EXECUTOR)
    evidence = Evidence(text, worked.read)
    verdict = await steps.look("verify", rooms.verifier.verify, steps.task, plan, evidence)
    steps.keep(verdict=verdict, spent=await rooms.thinker.spent(steps.task))
    if verdict.passed and plan.delivery and steps.task.status is Status.VERIFYING:
        return None  # it is written down with the move that follows
    await steps.save()
    if verdict.passed:
        return None
    # The brain does not fix what the owner wrote.
    his_own = await steps.decided(ask.held_key(steps.task)) is not None
    if steps.task.round < MOST_FIXES and not his_own:
        return Retry(verdict.complaint, anew=True)
    return Wait(ask.unproven(steps.task, verdict.complaint, text))


def _ticked(plan: Plan, reply: Reply, task: Task) -> tuple[WorkItem, ...]:
    """Return the work items: the ticked ones are done; without any ticks, all are."""
    live = [n for n, item in enumerate(task.work, 1) if item.status is ItemStatus.COMPLETED]
    done = {*reply.done, *live} or range(1, len(plan.work) + 1)
    return tuple(
        WorkItem(item.description, ItemStatus.COMPLETED) if n in done else item
        for n, item in enumerate(plan.work, 1)
    )
