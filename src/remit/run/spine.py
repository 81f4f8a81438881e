"""THE SPINE, read first: one task from plan to receipts.

A run is a leg: it ends as Done, Wait, Retry or Fail. Waiting for a person is not a sleeping run:
the leg ends, the decision starts the next one, and recorded steps are skipped at once. So the order
below also holds after a crash, a restart or three days of waiting.
"""

from remit import gate, review
from remit.gate import Author
from remit.model.contract import Evidence, ItemStatus, Plan, WorkItem
from remit.model.likeness import is_reflection
from remit.model.reply import Reply
from remit.model.review import Review, contact_rule_of
from remit.model.run import Done, Outcome, Retry, Wait, first_line
from remit.model.status import Actor, Status
from remit.model.task import Task
from remit.model.task_file import split_body
from remit.ports import Steps
from remit.run.before_work import agree, put_rule, reflect, unmet_condition
from remit.run.delegate import delegate
from remit.run.run_ports import GatedText, RunPorts
from remit.run.send import deliver, settle_doubts
from remit.run.work import WorkedReply, gate_reply, work
from remit.specialist.specialist_pool import is_code

MOST_FIXES = 3


async def run(rooms: RunPorts, steps: Steps) -> Outcome:
    """Take a task from plan to receipts. Each step survives a crash; none is done twice."""
    return await settle_doubts(rooms, steps) or await _plan(rooms, steps)


async def _plan(rooms: RunPorts, steps: Steps) -> Outcome:
    """Plan, and check the conditions: if one does not hold, nothing more is done."""
    rule = contact_rule_of(steps.task)
    if rule is not None:
        return await put_rule(rule, rooms, steps)
    plan = await steps.look("plan_step", rooms.plan, steps.task)
    if (ended := await _end_if_unchanged(rooms, steps)) is not None:
        return ended
    return await unmet_condition(rooms, steps) or await _choose(plan, rooms, steps)


async def _end_if_unchanged(rooms: RunPorts, steps: Steps) -> Done | None:
    """Return the end of a run whose watch shows no change: no model is asked, nobody is told."""
    watch = steps.task.watch
    if watch is None or rooms.look is None or is_reflection(steps.task):
        return None
    seen = await steps.do("look_for_change", rooms.look, steps.task)
    if not seen.unchanged or steps.task.slot is None:  # a run that the owner starts always works
        return None
    value = f" ({seen.shown})" if seen.shown else ""
    return await _silent(f"Unchanged: {watch.words}{value}. No model was asked.", rooms, steps)


async def _silent(summary: str, rooms: RunPorts, steps: Steps) -> Done:
    """Return an end that nobody is told of; after a week of silence a note is due, if wanted."""
    asks = rooms.week_of_silence if steps.task.series_id else None
    note = asks is not None and await steps.look("week_of_silence", asks, steps.task)
    return Done(summary, quiet=True, still_watching=note)


async def _choose(plan: Plan, rooms: RunPorts, steps: Steps) -> Outcome:
    """Choose the path of the task: send, reflect, code work, or brain."""
    if plan.composed:
        return await deliver(GatedText("", Author.OWNER), rooms, steps)
    if is_reflection(steps.task):
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
    steps.keep(work=_tick_work(plan, reply, steps.task), tool_output=reply.text)

    if (reason := _nothing_to_report(reply, steps.task)) is not None:
        return await _silent(f"Nothing to report. {reason}".rstrip(), rooms, steps)
    if not plan.delivery:
        return await _prove(reply.text, worked, plan, rooms, steps) or Done(first_line(reply.text))
    judged = await gate_reply(reply, rooms, steps)
    if isinstance(judged, Review):
        return Wait(judged)
    unproven = await _prove(split_body(judged.text)[0], worked, plan, rooms, steps)
    return unproven or await deliver(judged, rooms, steps)


def _nothing_to_report(reply: Reply, task: Task) -> str | None:
    """Return why there is nothing to report, if the owner asked for silence then."""
    return None if task.quiet is None or reply.flaw is not None else gate.silence(reply)


async def _prove(
    text: str, worked: WorkedReply, plan: Plan, rooms: RunPorts, steps: Steps
) -> Outcome | None:
    """Check the work against its contract; None: it passed and may continue."""
    if not rooms.verifier.applies(plan) or await steps.decided(review.unproven_key(steps.task)):
        return None
    if steps.task.status is Status.RUNNING:
        soon = rooms.verifier.is_quick(plan)
        await steps.move(Status.VERIFYING, Actor.EXECUTOR, soon=soon)
    evidence = Evidence(text, worked.read)
    verdict = await steps.look("verify", rooms.verifier.verify, steps.task, plan, evidence)
    steps.owe()
    steps.keep(verdict=verdict, spent=await rooms.thinker.spent(steps.task))
    if verdict.passed:
        return None
    # The brain does not fix what the owner wrote.
    his_own = await steps.decided(review.held_key(steps.task)) is not None
    if steps.task.round < MOST_FIXES and not his_own:
        return Retry(verdict.complaint, anew=True)
    return Wait(review.ask_about_unproven(steps.task, verdict.complaint, text))


def _tick_work(plan: Plan, reply: Reply, task: Task) -> tuple[WorkItem, ...]:
    """Return the work items: the ticked ones are done; without any ticks, all are."""
    live = [n for n, item in enumerate(task.work, 1) if item.status is ItemStatus.COMPLETED]
    done = {*reply.done, *live} or range(1, len(plan.work) + 1)
    return tuple(
        WorkItem(item.description, ItemStatus.COMPLETED) if n in done else item
        for n, item in enumerate(plan.work, 1)
    )
