"""What must hold before the work begins: an agreed contract, met conditions, an accepted rule.

Anything but a clear yes to a condition sends nothing. A run that looks back asks one question for
each lesson, and only a yes changes a file.
"""

import re
from enum import StrEnum
from functools import partial
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit import review
from remit.model.contract import Contract, ContractType, GeneratedFrom, Plan, WorkItem
from remit.model.likeness import Lesson, LessonResult, UnfitLesson
from remit.model.reply import Ask, Memory
from remit.model.review import ContactRule, Review, ReviewAnswer, rule_review
from remit.model.run import Done, Fail, Outcome, Wait
from remit.model.status import Reason
from remit.model.task import Task
from remit.model.veto import Condition
from remit.ports import Steps
from remit.reflect import Reflector
from remit.run.run_ports import RunPorts
from remit.run.work import WorkRequest, work

_ADVICE: Final = re.compile(r"\b(?:advisory|advice|no checks?|unchecked)\b", re.IGNORECASE)
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


async def agree(plan: Plan, steps: Steps) -> Plan | Review:
    """Return the plan with its contract, or the question to the owner if the contract is unclear.

    The plan is recorded before the work begins, so later files or words cannot change what was
    agreed.
    """
    contract = plan.contract
    if contract is None:
        return plan
    if plan.unsure is not None:
        question = review.question(steps.task, "contract", Ask(Reason.INPUT, plan.unsure))
        decision = await steps.decided(question.key)
        if decision is None:
            return question
        contract = _contract_as_answered(contract, decision.text or "")
    elif plan.notice is not None and not steps.has("execute_tool"):
        await steps.tell(plan.notice)
    steps.keep(contract=contract)
    return replace(plan, contract=contract)


def _contract_as_answered(strict: Contract, text: str) -> Contract:
    """Return the contract after the owner's answer; only a clear word makes it advisory."""
    if _ADVICE.search(text):
        return replace(
            strict, type=ContractType.ADVISORY, criteria=(), generated_from=GeneratedFrom.USER
        )
    return replace(strict, generated_from=GeneratedFrom.USER)


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
        found = await _observe_condition(place, condition, rooms, steps)
        if isinstance(found, Review):
            return Wait(found)
        if found.holds is not ConditionResult.YES:
            return Done(_sentence(condition, found))
    return None


async def _observe_condition(
    place: int, condition: Condition, rooms: RunPorts, steps: Steps
) -> ObservedCondition | Review:
    if not rooms.thinker.has_brain:
        return await _ask_about_condition(place, condition, steps)
    errand = WorkRequest(f"{_STEP}:{place}", f"condition:{place}:", partial(_errand, condition))
    plan = Plan((WorkItem(errand.of(steps.task).instructions),))
    worked = await work(plan, Memory(), rooms, steps, errand)
    return worked if isinstance(worked, Review) else read_answer(worked.reply.text)


def _errand(condition: Condition, task: Task) -> Task:
    """Return the task as the brain sees it: only the condition to find out."""
    request_text = task.request.text if task.request else task.instructions
    words = _ORDER.format(condition.words, request_text)
    title = f"Does it hold: {condition.words}"[:120]
    return replace(task, title=title, instructions=words, work=(), delivery=(), contract=None)


async def _ask_about_condition(
    place: int, condition: Condition, steps: Steps
) -> ObservedCondition | Review:
    """Return the owner's answer to the condition, or the question."""
    question = review.condition(steps.task, place, condition.words)
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


async def put_rule(rule: ContactRule, rooms: RunPorts, steps: Steps) -> Outcome:
    """Write exactly the accepted rule; without a yes nothing is written."""
    question = rule_review(steps.task, rule)
    decision = await steps.decided(question.key)
    if decision is None or decision.answer is not ReviewAnswer.APPROVE:
        return Wait(question)
    if rooms.put_rule is None:
        return Fail("There is no contact book here.")
    return Done(await steps.do("put_rule", rooms.put_rule, rule))


async def reflect(rooms: RunPorts, steps: Steps) -> Outcome:
    """Ask one question for each lesson, in order; only a yes changes a file."""
    reflector = rooms.mirror
    if reflector is None:
        return Fail("There is nothing to look back with here.")
    looked = await steps.do("execute_tool", reflector.look, steps.task)
    steps.keep(tool_output=looked.said, spent=await rooms.thinker.spent(steps.task))
    settled = list[LessonResult]()
    for place, lesson in enumerate(looked.lessons):
        result = await _lesson_result(place, lesson, reflector, steps)
        if isinstance(result, Review):
            return Wait(result)
        settled.append(result)
    summary = _summary(settled)
    steps.keep(tool_output=f"{summary}\n{looked.said}")
    return Done(summary)


async def _lesson_result(
    place: int, lesson: Lesson, reflector: Reflector, steps: Steps
) -> LessonResult | Review:
    """Return what became of a lesson, or the question about it.

    The question is bound to the new text of the file. If the file changed since, the text differs
    and the question is asked again.
    """
    name = f"lesson:{place}"
    if steps.has(name):
        # A recorded step returns its stored result, whatever the arguments are.
        return await steps.do(name, reflector.leave, steps.task, lesson, "")
    drafted = await reflector.draft(lesson)
    if isinstance(drafted, UnfitLesson):
        return await steps.do(name, reflector.leave, steps.task, lesson, drafted.why)
    question = review.lesson(steps.task, place, lesson, drafted)
    decision = await steps.decided(question.key)
    if decision is None:
        return question
    if decision.answer is ReviewAnswer.APPROVE:
        return await steps.do(name, reflector.accept, steps.task, lesson, drafted.digest)
    return await steps.do(name, reflector.leave, steps.task, lesson, "you left it out")


def _summary(settled: list[LessonResult]) -> str:
    if not settled:
        return "Nothing to learn."
    taken = sum(each.taken for each in settled)
    left = len(settled) - taken
    return f"{taken} of {len(settled)} lessons taken." if left else f"{_count(taken)} taken."


def _count(lessons: int) -> str:
    return "1 lesson" if lessons == 1 else f"{lessons} lessons"
