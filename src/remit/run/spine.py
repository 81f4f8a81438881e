"""THE SPINE, read first: one task from plan to receipts.

A run is a leg: it ends as Done, Wait, Retry or Fail. Waiting for a person is not a sleeping run:
the leg ends, the decision starts the next one, and recorded steps are skipped at once. So the order
below also holds after a crash, a restart or three days of waiting.
"""

from remit.gate import Author
from remit.model.contact_rule import rule_of
from remit.model.contract import Evidence
from remit.model.lesson import looks_back
from remit.model.outcome import Done, Outcome, Retry, Wait, first_line
from remit.model.plan import ItemStatus, Plan, WorkItem
from remit.model.reply import Reply
from remit.model.review import Review
from remit.model.status import Actor, Status
from remit.model.task import Task
from remit.ports import Steps
from remit.review import ask
from remit.run.agree import agree
from remit.run.condition import unmet_condition
from remit.run.contact_rule import put_rule
from remit.run.delegate import delegate
from remit.run.judge import written
from remit.run.reflect import reflect
from remit.run.rooms import GatedText, RunPorts
from remit.run.send import deliver, settle_doubts
from remit.run.work import WorkedReply, work
from remit.specialist.specialist_pool import is_code

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
