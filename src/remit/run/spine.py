"""THE SPINE, read first: one task from plan to receipts.

A run is a leg: it ends as Done, Wait, Retry or Fail. Waiting for a human is not a sleeping run;
the leg ends, the decision starts the next one, and every step that is on record is passed in an
instant. So the order below is also the order after a crash, a restart or three days of waiting.
"""

from remit import gate
from remit.gate import Author
from remit.model.contract import Evidence
from remit.model.outcome import Done, Outcome, Retry, Wait, first_line
from remit.model.plan import Item, ItemStatus, Plan
from remit.model.reply import Hold, Reply
from remit.model.review import Review
from remit.model.status import Actor, Status
from remit.model.task import Task
from remit.ports import Steps
from remit.review import ask
from remit.run.rooms import Rooms, Written
from remit.run.send import deliver
from remit.run.work import work

MOST_FIXES = 3


async def run(rooms: Rooms, steps: Steps) -> Outcome:
    """Take a task from plan to receipts. Each step survives a crash; none is done twice."""
    plan = await steps.look("plan_step", rooms.planner.draft, steps.task)
    if plan.precomposed:
        return await deliver(Written("", Author.OWNER), rooms, steps)
    memory = await steps.look("retrieve_context", rooms.recall.like, steps.task)
    steps.keep(taint=memory.taint)

    reply = await work(plan, memory, rooms, steps)
    if isinstance(reply, Review):
        return Wait(reply)
    steps.keep(work=_ticked(plan, reply, steps.task), tool_output=reply.text)

    if not plan.delivery:
        return await _prove(reply.text, plan, rooms, steps) or Done(first_line(reply.text))
    judged = await _judged(reply, rooms, steps)
    if isinstance(judged, Review):
        return Wait(judged)
    return await _prove(judged.text, plan, rooms, steps) or await deliver(judged, rooms, steps)


async def _judged(reply: Reply, rooms: Rooms, steps: Steps) -> Written | Review:
    """What the gate lets out, or what the owner wrote instead; else the question to the owner."""
    most, known = rooms.courier.most(steps.task.delivery), rooms.known
    judged = Hold(reply.flaw) if reply.flaw else gate.judge(reply, most=most, known=known)
    author, text, tries = Author.BRAIN, "", 0
    while isinstance(judged, Hold):
        question = ask.held(steps.task, tries, judged, Reply(text) if tries else reply)
        decision = await steps.decided(question.key)
        if decision is None:
            return question
        # Who sends the same text again after he was told what is in it insists on it.
        before, text = text, decision.text or text
        author = Author.WARNED if tries and text == before else Author.OWNER
        judged = gate.judge_text(text, most=most, author=author, known=known)
        tries += 1
    return Written(judged.text, author, reply.asks_first and author is Author.BRAIN)


async def _prove(text: str, plan: Plan, rooms: Rooms, steps: Steps) -> Outcome | None:
    """Check the work against its contract; None means that it may go on."""
    if not rooms.verifier.applies(plan) or await steps.decided(ask.unproven_key(steps.task)):
        return None
    if steps.task.status is Status.RUNNING:
        await steps.move(Status.VERIFYING, Actor.EXECUTOR)
    verdict = await steps.do("verify", rooms.verifier.verify, steps.task, plan, Evidence(text))
    steps.keep(verdict=verdict)
    if verdict.passed:
        return None
    # What the owner wrote with his own hand is not the brain's to fix.
    his_own = await steps.decided(ask.held_key(steps.task)) is not None
    if steps.task.round < MOST_FIXES and not his_own:
        return Retry(verdict.complaint, anew=True)
    return Wait(ask.unproven(steps.task, verdict.complaint, text))


def _ticked(plan: Plan, reply: Reply, task: Task) -> tuple[Item, ...]:
    """The work items as the brain left them: what it ticked is done; without ticks, all is."""
    live = [n for n, item in enumerate(task.work, 1) if item.status is ItemStatus.COMPLETED]
    done = {*reply.done, *live} or range(1, len(plan.work) + 1)
    return tuple(
        Item(item.description, ItemStatus.COMPLETED) if n in done else item
        for n, item in enumerate(plan.work, 1)
    )
