"""THE SPINE, read first: one task from plan to receipts.

A run is a leg: it ends as Done, Wait, Retry or Fail. Waiting for a human is not a sleeping run;
the leg ends, the decision starts the next one, and every step that is on record is passed in an
instant. So the order below is also the order after a crash, a restart or three days of waiting.
"""

from dataclasses import dataclass, field
from itertools import count

from remit import gate
from remit.brain.think import Thinker
from remit.deliver.courier import Courier
from remit.gate import Author, Known
from remit.model import delivery as answers
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.plan import Item, ItemStatus, Plan
from remit.model.reply import Ask, Hold, Reply
from remit.model.review import Answered, Review
from remit.model.status import Actor, Reason, Status
from remit.model.task import Taint
from remit.plan.draft import Planner
from remit.ports import Steps
from remit.recall.session import Recall
from remit.review import ask
from remit.verify.verdict import Verifier

MOST_FIXES = 3


@dataclass(frozen=True, slots=True)
class Done:
    summary: str


@dataclass(frozen=True, slots=True)
class Wait:
    review: Review


@dataclass(frozen=True, slots=True)
class Retry:
    """Try again later; `anew` throws this round's steps away, with a word on what was wrong."""

    why: str
    after: float | None = None
    anew: bool = False


@dataclass(frozen=True, slots=True)
class Fail:
    why: str


Outcome = Done | Wait | Retry | Fail


@dataclass(frozen=True, slots=True)
class Rooms:
    planner: Planner
    recall: Recall
    thinker: Thinker
    verifier: Verifier
    courier: Courier
    known: Known = field(default_factory=Known)


async def run(rooms: Rooms, steps: Steps) -> Outcome:
    """Take a task from plan to receipts. Each step survives a crash; none is done twice."""
    plan = await steps.look("plan_step", rooms.planner.draft, steps.task)
    if plan.precomposed:
        return await _deliver(None, Author.OWNER, rooms, steps)
    memory = await steps.look("retrieve_context", rooms.recall.like, steps.task)

    turn = 0
    reply = await steps.do("execute_tool", rooms.thinker.think, steps.task, plan, memory)
    while (asked := _asked(reply, plan)) is not None:
        question = ask.question(steps.task, turn, asked)
        if await steps.decided(question.key) is None:
            return Wait(question)
        turn += 1
        step = f"execute_tool:{turn}"
        reply = await steps.do(step, rooms.thinker.think, steps.task, plan, memory)
    steps.keep(work=_ticked(plan, reply), tool_output=reply.text)

    if not plan.delivery:
        return await _prove(reply.text, plan, rooms, steps) or Done(first_line(reply.text))
    judged = await _judged(reply, rooms, steps)
    if isinstance(judged, Review):
        return Wait(judged)
    text, author = judged
    return await _prove(text, plan, rooms, steps) or await _deliver(text, author, rooms, steps)


def _asked(reply: Reply, plan: Plan) -> Ask | None:
    """What the owner must say before the work can go on."""
    if reply.ask is None and reply.flaw is not None and not plan.delivery:
        return Ask(Reason.INPUT, f"{reply.flaw} Say how to go on, or decline.")
    return reply.ask


async def _judged(reply: Reply, rooms: Rooms, steps: Steps) -> tuple[str, Author] | Review:
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
    return judged.text, author


async def _prove(text: str, plan: Plan, rooms: Rooms, steps: Steps) -> Outcome | None:
    """Check the work against its contract; None means that it may go on."""
    if not rooms.verifier.applies(plan) or await steps.decided(ask.unproven_key(steps.task)):
        return None
    if steps.task.status is Status.RUNNING:
        await steps.move(Status.VERIFYING, Actor.EXECUTOR)
    verdict = await steps.do("verify", rooms.verifier.verify, steps.task, plan, text)
    steps.keep(verdict=verdict)
    if verdict.passed:
        return None
    # What the owner wrote with his own hand is not the brain's to fix.
    his_own = await steps.decided(ask.held_key(steps.task)) is not None
    if steps.task.round < MOST_FIXES and not his_own:
        return Retry(verdict.complaint, anew=True)
    return Wait(ask.unproven(steps.task, verdict.complaint, text))


async def _deliver(text: str | None, author: Author, rooms: Rooms, steps: Steps) -> Outcome:
    """Send every delivery that is not settled; complete only if each was accepted."""
    by = Actor.VERIFIER if steps.task.status is Status.VERIFYING else Actor.EXECUTOR
    await steps.move(Status.DELIVERING, by)
    later: answers.Retry | None = None
    for delivery in steps.task.delivery:
        if delivery.status in (DeliveryStatus.SENT, DeliveryStatus.REFUSED):
            continue
        body = await _body(delivery, text, author, rooms, steps)
        if isinstance(body, Review):
            return Wait(body)
        answer = await rooms.courier.send(delivery, body, steps.ledger)
        if isinstance(answer, answers.Retry):
            later = answer
    return _delivered(later, steps)


async def _body(
    delivery: Delivery, text: str | None, author: Author, rooms: Rooms, steps: Steps
) -> str | Review:
    """The exact text to send, or the question that must be answered first."""
    body = text or ""
    if delivery.content is not None:
        body = delivery.content
        # Only what came from the owner is his; what a mail wrote for him is judged as a reply is.
        author = Author.OWNER if steps.task.taint is Taint.OWNER else Author.BRAIN
    by_owner = rooms.courier.may_send(delivery)
    most = rooms.courier.most((delivery,))
    for tries in count():
        judged = gate.judge_text(body, most=most, author=author, known=rooms.known)
        if isinstance(judged, Hold):
            question = ask.held(steps.task, tries, judged, Reply(body), delivery)
        elif by_owner:
            return judged.text
        else:
            question = ask.permission(steps.task, delivery, judged.text)
        decision = await steps.decided(question.key)
        if decision is None:
            return question
        # What the owner approved or wrote may go to whom it was meant for; the gate still looks.
        by_owner = True
        edited = (decision.text or "") if decision.answer is Answered.EDIT else body
        same = isinstance(judged, Hold) and edited == body
        author = Author.WARNED if same else Author.OWNER
        body = edited
    raise AssertionError  # pragma: no cover - count() does not end


def _delivered(later: answers.Retry | None, steps: Steps) -> Outcome:
    deliveries = steps.task.delivery
    for delivery in deliveries:
        if delivery.status is DeliveryStatus.UNKNOWN:
            return Wait(ask.doubtful(steps.task, delivery))
    if later is not None:
        return Retry(later.why, later.after)
    refused = [d for d in deliveries if d.status is DeliveryStatus.REFUSED]
    if refused:
        sent = sum(d.status is DeliveryStatus.SENT for d in deliveries)
        why = "; ".join(f"{d.channel}: {d.reason}" for d in refused)
        return Fail(f"{len(refused)} of {len(deliveries)} refused ({why}); {sent} sent.")
    return Done(first_line(deliveries[0].body or ""))


def _ticked(plan: Plan, reply: Reply) -> tuple[Item, ...]:
    """The work items as the brain left them: what it ticked is done; without ticks, all is."""
    done = reply.done or tuple(range(1, len(plan.work) + 1))
    return tuple(
        Item(item.description, ItemStatus.COMPLETED) if n in done else item
        for n, item in enumerate(plan.work, 1)
    )


def first_line(text: str) -> str:
    """What a text comes to, for a list of tasks."""
    lines = text.strip().splitlines() or [""]
    return lines[0] if len(lines[0]) <= 200 else lines[0][:197] + "..."  # noqa: PLR2004
