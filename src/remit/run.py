"""THE SPINE, read first: one task from plan to receipts.

A run is a leg: it ends as Done, Wait, Retry or Fail. Waiting for a human is not a sleeping run;
the leg ends, the decision starts the next one, and every step that is on record is passed in an
instant. So the order below is also the order after a crash, a restart or three days of waiting.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from remit import gate
from remit.brain.think import Thinker
from remit.brain.tools import Toolbox
from remit.deliver.courier import Courier, Crowded, Ready
from remit.gate import Author, Known
from remit.model import delivery as answers
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.outcome import Done, Fail, Later, Outcome, Retry, Wait, first_line
from remit.model.permit import Reach
from remit.model.plan import Item, ItemStatus, Plan
from remit.model.reply import Ask, Exchange, Hold, Memory, Policy, Reply, ToolCall, ToolResult
from remit.model.review import Answered, Review
from remit.model.status import Actor, Reason, Status
from remit.model.task import Taint, Task
from remit.plan.draft import Planner
from remit.ports import Steps
from remit.recall.session import Recall
from remit.review import ask
from remit.verify.verdict import Verifier

__all__ = ["Done", "Fail", "Later", "Outcome", "Retry", "Wait", "first_line"]
__all__ += ["MOST_CALLS", "MOST_FIXES", "MOST_TURNS", "Rooms", "run"]

MOST_FIXES = 3
MOST_TURNS = 50  # that call tools, before the owner is asked whether it shall go on
MOST_CALLS = 20  # in one turn


@dataclass(frozen=True, slots=True)
class Written:
    """A text that passed the gate, and whose it is."""

    text: str
    author: Author
    asks_first: bool = False  # whether even the owner is asked before he gets it


@dataclass(frozen=True, slots=True)
class Rooms:
    planner: Planner
    recall: Recall
    thinker: Thinker
    verifier: Verifier
    courier: Courier
    known: Known = field(default_factory=Known)
    tools: Toolbox = field(default_factory=Toolbox)


async def run(rooms: Rooms, steps: Steps) -> Outcome:
    """Take a task from plan to receipts. Each step survives a crash; none is done twice."""
    plan = await steps.look("plan_step", rooms.planner.draft, steps.task)
    if plan.precomposed:
        return await _deliver(Written("", Author.OWNER), rooms, steps)
    memory = await steps.look("retrieve_context", rooms.recall.like, steps.task)
    steps.keep(taint=memory.taint)

    reply = await _work(plan, memory, rooms, steps)
    if isinstance(reply, Review):
        return Wait(reply)
    steps.keep(work=_ticked(plan, reply, steps.task), tool_output=reply.text)

    if not plan.delivery:
        return await _prove(reply.text, plan, rooms, steps) or Done(first_line(reply.text))
    judged = await _judged(reply, rooms, steps)
    if isinstance(judged, Review):
        return Wait(judged)
    return await _prove(judged.text, plan, rooms, steps) or await _deliver(judged, rooms, steps)


async def _work(plan: Plan, memory: Memory, rooms: Rooms, steps: Steps) -> Reply | Review:
    """Think, do what the brain asks for, and think on, until there is an answer."""
    past: tuple[Exchange, ...] = ()
    while True:
        turn = len(past)
        results: tuple[ToolResult, ...] = ()
        name = f"execute_tool:{turn}" if turn else "execute_tool"
        think = rooms.thinker.think
        reply = await steps.do(name, think, steps.task, plan, memory, past, steps.tell)
        steps.keep(spent=await rooms.thinker.spent(steps.task))
        asked = _asked(reply, plan)
        if asked is not None:
            question = ask.question(steps.task, str(turn), asked)
            if await steps.decided(question.key) is None:
                return question
        elif reply.calls:
            used = await _use_all(turn, reply.calls, rooms, steps)
            if isinstance(used, Review):
                return used
            results = used
        else:
            return reply
        past = (*past, Exchange(reply, results))


def _asked(reply: Reply, plan: Plan) -> Ask | None:
    """What the owner must say before the work can go on."""
    if reply.ask is None and reply.flaw is not None and not plan.delivery:
        return Ask(Reason.INPUT, f"{reply.flaw} Say how to go on, or decline.")
    return reply.ask


async def _use_all(
    turn: int, calls: Sequence[ToolCall], rooms: Rooms, steps: Steps
) -> tuple[ToolResult, ...] | Review:
    """Do what the brain asked for, one after the other; what is done is not done again."""
    if turn and turn % MOST_TURNS == 0:
        endless = ask.endless(steps.task, turn)
        if await steps.decided(endless.key) is None:
            return endless
    results: list[ToolResult] = []
    for n, call in enumerate(calls):
        if n >= MOST_CALLS:
            why = f"Not done: at most {MOST_CALLS} calls at once."
            results.append(ToolResult(call.id, why, failed=True))
            continue
        place = f"{turn}:{n}"
        wanted = await _allowed(place, call, rooms, steps)
        result = await _use(place, wanted, rooms, steps) if isinstance(wanted, ToolCall) else wanted
        if isinstance(result, Review):
            return result
        steps.keep(taint=result.taint)
        await steps.tell(done=result.done)
        results.append(result)
    return tuple(results)


async def _allowed(
    place: str, call: ToolCall, rooms: Rooms, steps: Steps
) -> ToolCall | ToolResult | Review:
    """The call as it may be done, or what the brain is told instead, or the question."""
    asked = rooms.tools.asks_owner(call)
    if asked is not None:
        question = ask.question(steps.task, place, Ask(Reason.INPUT, asked))
        decision = await steps.decided(question.key)
        return question if decision is None else ToolResult(call.id, decision.text or "")
    # Written down with what is done: a task that read more since is not judged by that again.
    ruling = await steps.look(f"may:{place}", rooms.tools.rule, steps.task, call)
    if ruling.wrong:
        return ToolResult(call.id, ruling.wrong, failed=True)
    match ruling.policy:
        case Policy.ALLOW:
            return call
        case Policy.DENY:
            return ToolResult(call.id, f"{call.tool} is not allowed here.", failed=True)
        case Policy.ASK:
            return await _permitted(place, call, ruling.warning, rooms, steps)


async def _permitted(
    place: str, call: ToolCall, problem: str, rooms: Rooms, steps: Steps
) -> ToolCall | ToolResult | Review:
    """The call as the owner allows it: as it is, with other arguments, or not at all."""
    for tries in count():
        question = ask.call(steps.task, f"{place}:{tries}", call, problem)
        decision = await steps.decided(question.key)
        if decision is None:
            return question
        if decision.answer is Answered.DROP:
            return ToolResult(call.id, f"The owner said no. {decision.text or ''}".strip(), True)
        if decision.answer is Answered.APPROVE:
            return call
        edited = await rooms.tools.edited(call, decision.text or "")
        if isinstance(edited, ToolCall):
            return edited
        problem = f"{edited} "
    raise AssertionError  # pragma: no cover - count() does not end


async def _use(place: str, call: ToolCall, rooms: Rooms, steps: Steps) -> ToolResult | Review:
    """Do a call. One that may not be done twice is begun on record, as a send is claimed."""
    name = f"use:{place}"
    ruling = await steps.look(f"may:{place}", rooms.tools.rule, steps.task, call)
    if ruling.may_repeat:
        return await steps.do(name, rooms.tools.use, steps.task, call)
    for tries in count():
        begun = await steps.do(f"{name}:begin:{tries}", rooms.tools.begin, steps.task)
        why = "Remit stopped in the middle of it."
        if begun == steps.task.lease or steps.has(f"{name}:{tries}"):
            result = await steps.do(f"{name}:{tries}", rooms.tools.use, steps.task, call)
            if not result.doubt:
                return result
            why = result.text
        question = ask.begun(steps.task, f"{place}:{tries}", call, why)
        decision = await steps.decided(question.key)
        if decision is None:
            return question
        if decision.answer is Answered.ARRIVED:
            return ToolResult(call.id, "The owner says that it was done; its result is lost.")
        if decision.answer is Answered.DROP:
            return ToolResult(call.id, "The owner left it out.", failed=True)
    raise AssertionError  # pragma: no cover - count() does not end


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
    verdict = await steps.do("verify", rooms.verifier.verify, steps.task, plan, text)
    steps.keep(verdict=verdict)
    if verdict.passed:
        return None
    # What the owner wrote with his own hand is not the brain's to fix.
    his_own = await steps.decided(ask.held_key(steps.task)) is not None
    if steps.task.round < MOST_FIXES and not his_own:
        return Retry(verdict.complaint, anew=True)
    return Wait(ask.unproven(steps.task, verdict.complaint, text))


async def _deliver(written: Written, rooms: Rooms, steps: Steps) -> Outcome:
    """Send every delivery that is not settled; complete only if each was accepted."""
    by = Actor.VERIFIER if steps.task.status is Status.VERIFYING else Actor.EXECUTOR
    await steps.move(Status.DELIVERING, by)
    later: list[answers.Retry] = []
    looked: set[str] = set()
    while (delivery := _next(steps.task, looked)) is not None:
        came = await _send(delivery, written, rooms, steps)
        if isinstance(came, Review):
            return Wait(came)
        if came is None:
            continue  # it is in parts now
        looked.add(str(delivery.id))
        if isinstance(came, answers.Retry):
            later.append(came)
    return _delivered(later, rooms, steps)


async def _send(
    delivery: Delivery, written: Written, rooms: Rooms, steps: Steps
) -> answers.Answer | Review | None:
    """Send one delivery if it may go out now; None says that it is in parts instead."""
    ready = await _ready(delivery, written, rooms, steps)
    if isinstance(ready, answers.Refused):
        await steps.ledger.clear(delivery, ready)
    if not isinstance(ready, Ready):
        return ready
    to, body, seen = ready.delivery, ready.body, ready.seen
    parts = (body,) if delivery.is_cut else rooms.courier.parts(to, body)
    answer: answers.Answer | Crowded | None
    if len(parts) > 1:
        answer = await rooms.courier.split(to, parts, steps.ledger, seen=seen)
    else:
        answer = await rooms.courier.send(to, parts[0], steps.ledger, seen=seen)
    if isinstance(answer, Crowded):
        return ask.permission(steps.task, to, ready.reach, body, answer.why)
    if isinstance(answer, answers.Locked):
        question = ask.locked(steps.task, to, answer.why)
        locked = await steps.decided(question.key) is None
        return question if locked else answers.Retry(answer.why)
    return answer


def _next(task: Task, looked: Collection[str]) -> Delivery | None:
    """The first delivery that is not settled and was not looked at in this leg.

    A part goes out behind the one before it, or not at all.
    """
    settled, before = (DeliveryStatus.SENT, DeliveryStatus.REFUSED), DeliveryStatus.SENT
    for each in task.delivery:
        waits = each.part and before is not DeliveryStatus.SENT
        if each.status not in settled and each.id not in looked and not waits:
            return each
        before = each.status
    return None


async def _ready(
    delivery: Delivery, written: Written, rooms: Rooms, steps: Steps
) -> Ready | answers.Refused | answers.Retry | Review:
    """What is to be sent and where, if it may go out now; else why not, or the question."""
    if delivery.status is not DeliveryStatus.PENDING or delivery.reported is not None:
        nobody = Reach("", delivery.address)
        return Ready(delivery, nobody, delivery.body or "")  # it went out; it is only looked for
    reach = await _reach(delivery, rooms, steps)
    if isinstance(reach, Review):
        return reach
    ready = await _body(delivery, reach, written, rooms, steps)
    waits = rooms.courier.put_off(steps.task, ready) if isinstance(ready, Ready) else None
    return waits or ready


async def _reach(delivery: Delivery, rooms: Rooms, steps: Steps) -> Reach | Review:
    """Whom it goes to and where: what the owner said last, by the book as it is now."""
    words, tries = delivery.recipient, 0
    while (said := await steps.decided(ask.whom_key(steps.task, delivery, tries))) is not None:
        words, tries = said.text or "", tries + 1
    reach = rooms.courier.reach(delivery, words)
    return (
        reach if isinstance(reach, Reach) else ask.whom(steps.task, delivery, tries, reach.sentence)
    )


async def _body(
    delivery: Delivery, reach: Reach, written: Written, rooms: Rooms, steps: Steps
) -> Ready | answers.Refused | Review:
    """The exact text to send, or the question that must be answered first."""
    body, author, asks_first = _whose(delivery, reach, written, steps.task)
    leave = await rooms.courier.leave(steps.task, delivery, reach, asks_first=asks_first)
    if leave.policy is Policy.DENY:
        return answers.Refused(leave.why)
    if delivery.is_cut and not asks_first:
        return Ready(delivery, reach, body)  # gated, and let go, as a whole
    to, seen, at = replace(delivery, address=reach.address), False, None
    most = rooms.courier.most((delivery,))
    for tries in count():
        body = rooms.courier.shape(delivery, body)
        judged = gate.judge_text(body, most=most, author=author, known=rooms.known)
        if isinstance(judged, Hold):
            question = ask.held(steps.task, tries, judged, Reply(body), delivery, reach)
        elif seen:
            return Ready(to, reach, judged.text, approved_at=at)
        else:
            question = ask.permission(steps.task, to, reach, judged.text, leave.why)
        decision = await steps.decided(question.key)
        if decision is None:
            if isinstance(judged, Hold) or leave.policy is Policy.ASK:
                return question
            return Ready(to, reach, judged.text, reach.owner)
        # What the owner approved or wrote may go to whom it was meant for; the gate still looks.
        seen, at = True, decision.decided_at
        edited = (decision.text or "") if decision.answer is Answered.EDIT else body
        same = isinstance(judged, Hold) and edited == body
        author = Author.WARNED if same else Author.OWNER
        body = edited
    raise AssertionError  # pragma: no cover - count() does not end


def _whose(
    delivery: Delivery, reach: Reach, written: Written, task: Task
) -> tuple[str, Author, bool]:
    """The text as it stands, whose it is, and whether even an allowed one is asked about."""
    if delivery.is_cut:
        # A part was let go to one address; if that is another by now, it is a new question.
        return delivery.body or "", Author.BRAIN, delivery.address != reach.address
    if delivery.content is not None:
        # Only what came from the owner is his; what a mail wrote for him is judged as a reply is.
        return delivery.content, Author.OWNER if task.taint is Taint.OWNER else Author.BRAIN, False
    return written.text, written.author, written.asks_first


def _delivered(put_off: Sequence[answers.Retry], rooms: Rooms, steps: Steps) -> Outcome:
    deliveries = steps.task.delivery
    doubtful = [each for each in deliveries if each.status is DeliveryStatus.UNKNOWN]
    waits = min((rooms.courier.waits(each) for each in doubtful), default=0)
    if waits:
        return Later("news from the provider are waited for", waits)
    for delivery in doubtful:
        return Wait(ask.doubtful(steps.task, delivery))
    if put_off:
        # What failed is tried again at its own pace, whatever else waits for the morning.
        soon = min(put_off, key=lambda each: (not each.spends, each.after or 0))
        return Retry(soon.why, soon.after) if soon.spends else Later(soon.why, soon.after or 1.0)
    refused = [d for d in deliveries if d.status is DeliveryStatus.REFUSED]
    if refused:
        sent = sum(d.status is DeliveryStatus.SENT for d in deliveries)
        why = "; ".join(f"{d.channel}: {d.reason}" for d in refused)
        return Fail(f"{len(refused)} of {len(deliveries)} refused ({why}); {sent} sent.")
    return Done(first_line(deliveries[0].body or ""))


def _ticked(plan: Plan, reply: Reply, task: Task) -> tuple[Item, ...]:
    """The work items as the brain left them: what it ticked is done; without ticks, all is."""
    live = [n for n, item in enumerate(task.work, 1) if item.status is ItemStatus.COMPLETED]
    done = {*reply.done, *live} or range(1, len(plan.work) + 1)
    return tuple(
        Item(item.description, ItemStatus.COMPLETED) if n in done else item
        for n, item in enumerate(plan.work, 1)
    )
