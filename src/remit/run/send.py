"""Sends approved texts: to whom, which text, in which order, and with what result."""

from collections.abc import Collection, Sequence
from itertools import count

from msgspec.structs import replace

from remit import gate
from remit.delivery.courier import DailyLimitReached, ReadyDelivery
from remit.gate import Author
from remit.model import delivery as answers
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.outcome import Done, Fail, Later, Outcome, Retry, Wait, first_line
from remit.model.permit import Reach
from remit.model.reply import Hold, Policy, Reply
from remit.model.review import Review, ReviewAnswer
from remit.model.status import Actor, Status
from remit.model.task import Taint, Task
from remit.model.veto import veto_sentence
from remit.ports import Steps
from remit.review import ask
from remit.run.rooms import GatedText, RunPorts


async def deliver(written: GatedText, rooms: RunPorts, steps: Steps) -> Outcome:
    """Send every delivery that is not settled; complete only if each was accepted."""
    by = Actor.VERIFIER if steps.task.status is Status.VERIFYING else Actor.EXECUTOR
    await steps.move(Status.DELIVERING, by)
    later: list[answers.SendRetry] = []
    looked: set[str] = set()
    while (delivery := _next(steps.task, looked)) is not None:
        came = await _send(delivery, written, rooms, steps)
        if isinstance(came, Review):
            return await _doubt(rooms, steps) or Wait(came)
        if came is None:
            continue  # it is in parts now
        looked.add(str(delivery.id))
        if isinstance(came, answers.SendRetry):
            later.append(came)
    return await _doubt(rooms, steps) or _delivered(later, steps)


def approval_card(rooms: RunPorts, task: Task, delivery: Delivery) -> Review | None:
    """The question that approves a text of the owner to somebody before the task has begun.

    It has the key of the question that the send would ask, so its answer counts there. None if
    what would be sent is not known yet, or the gate holds it.
    """
    reach = rooms.courier.reach(delivery, delivery.recipient)
    # What depends on something is approved when that is known, and not before.
    if delivery.content is None or task.repeats or task.only_if or not isinstance(reach, Reach):
        return None
    body, author, _ = _whose(delivery, reach, GatedText("", Author.BRAIN), task)
    body = rooms.courier.shape(delivery, body)
    most = rooms.courier.most((delivery,))
    judged = gate.judge_text(body, most=most, author=author, known=rooms.known)
    if isinstance(judged, Hold):
        return None
    to, why = replace(delivery, address=reach.address), f"{veto_sentence(task.veto)} "
    return replace(ask.permission(task, to, reach, judged.text, why), resume_to=Status.NEW)


async def settle_doubts(rooms: RunPorts, steps: Steps) -> Outcome | None:
    """Settle what an earlier leg left in doubt, before all else; None says that it may go on.

    Every message that may be out is looked for. What stays in doubt is asked about, one after
    another, before any other question; but what may go out to others does not wait for an answer.
    For a task that was cancelled no channel is asked: that may send the message again.
    """
    cancelled = steps.task.cancel_requested
    for delivery in (each for each in steps.task.delivery if each.in_doubt):
        await rooms.courier.settle(delivery, steps.ledger, asks_channel=not cancelled)
    if steps.task.status is Status.DELIVERING and not cancelled:
        return None
    return await _doubt(rooms, steps, at_once=cancelled)


async def _doubt(rooms: RunPorts, steps: Steps, *, at_once: bool = False) -> Wait | Later | None:
    """The question about the first message in doubt, or how long news about it are waited for.

    What the owner would not say when asked stays in doubt, and is not asked again.
    """
    waits: list[float] = []
    for each in steps.task.delivery:
        if each.status is not DeliveryStatus.UNKNOWN or await steps.declined(ask.doubt_key(each)):
            continue
        left = 0.0 if at_once else rooms.courier.waits(each)
        if not left:
            return Wait(ask.doubtful(steps.task, each))
        waits.append(left)
    return Later("news from the provider are waited for", min(waits)) if waits else None


async def _send(
    delivery: Delivery, written: GatedText, rooms: RunPorts, steps: Steps
) -> answers.Answer | Review | None:
    """Send one delivery if it may go out now; None says that it is in parts instead."""
    ready = await _ready(delivery, written, rooms, steps)
    if isinstance(ready, answers.Refused):
        await steps.ledger.clear(delivery, ready)
    if not isinstance(ready, ReadyDelivery):
        return ready
    to, body, seen = ready.delivery, ready.body, ready.seen
    parts = (body,) if delivery.is_cut else rooms.courier.parts(to, body)
    answer: answers.Answer | DailyLimitReached | None
    if len(parts) > 1:
        answer = await rooms.courier.split(to, parts, steps.ledger, seen=seen)
    else:
        answer = await rooms.courier.send(to, parts[0], steps.ledger, seen=seen)
    if isinstance(answer, DailyLimitReached):
        return ask.permission(steps.task, to, ready.reach, body, answer.why)
    if isinstance(answer, answers.Locked):
        question = ask.locked(steps.task, to, answer.why)
        locked = await steps.decided(question.key) is None
        return question if locked else answers.SendRetry(answer.why)
    return answer


def _next(task: Task, looked: Collection[str]) -> Delivery | None:
    """The first delivery that is to be sent and was not looked at in this leg.

    A part goes out behind the one before it, or not at all.
    """
    before = DeliveryStatus.SENT
    for each in task.delivery:
        waits = each.part and before is not DeliveryStatus.SENT
        if each.status is DeliveryStatus.PENDING and each.id not in looked and not waits:
            return each
        before = each.status
    return None


async def _ready(
    delivery: Delivery, written: GatedText, rooms: RunPorts, steps: Steps
) -> ReadyDelivery | answers.Refused | answers.SendRetry | Review:
    """What is to be sent and where, if it may go out now; else why not, or the question."""
    if delivery.reported is not None:
        nobody = Reach("", delivery.address)
        return ReadyDelivery(
            delivery, nobody, delivery.body or ""
        )  # it went out; it is only looked for
    reach = await _reach(delivery, rooms, steps)
    if isinstance(reach, Review):
        return reach
    ready = await _body(delivery, reach, written, rooms, steps)
    waits = rooms.courier.put_off(steps.task, ready) if isinstance(ready, ReadyDelivery) else None
    return waits or ready


async def _reach(delivery: Delivery, rooms: RunPorts, steps: Steps) -> Reach | Review:
    """Whom it goes to and where: what the owner said last, by the book as it is now."""
    words, tries = delivery.recipient, 0
    while (said := await steps.decided(ask.whom_key(steps.task, delivery, tries))) is not None:
        words, tries = said.text or "", tries + 1
    reach = rooms.courier.reach(delivery, words)
    return (
        reach if isinstance(reach, Reach) else ask.whom(steps.task, delivery, tries, reach.sentence)
    )


async def _body(
    delivery: Delivery, reach: Reach, written: GatedText, rooms: RunPorts, steps: Steps
) -> ReadyDelivery | answers.Refused | Review:
    """The exact text to send, or the question that must be answered first."""
    body, author, asks_first = _whose(delivery, reach, written, steps.task)
    leave = await rooms.courier.leave(steps.task, delivery, reach, asks_first=asks_first)
    if leave.policy is Policy.DENY:
        return answers.Refused(leave.why)
    if delivery.is_cut and not asks_first:
        return ReadyDelivery(delivery, reach, body)  # gated, and let go, as a whole
    to, seen, at = replace(delivery, address=reach.address), False, None
    most = rooms.courier.most((delivery,))
    body = rooms.courier.shape(delivery, body)
    for tries in count():
        judged = gate.judge_text(body, most=most, author=author, known=rooms.known)
        if isinstance(judged, Hold):
            question = ask.held(steps.task, tries, judged, Reply(body), delivery, reach)
        elif seen:
            return ReadyDelivery(to, reach, judged.text, approved_at=at)
        else:
            question = ask.permission(steps.task, to, reach, judged.text, leave.why)
        decision = await steps.decided(question.key)
        if decision is None:
            if isinstance(judged, Hold) or leave.policy is Policy.ASK:
                return question
            return ReadyDelivery(to, reach, judged.text, reach.owner)
        # What the owner approved or wrote may go to whom it was meant for; the gate still looks,
        # and nobody rewrites a letter of it.
        seen, at = True, decision.decided_at
        edited = (decision.text or "") if decision.answer is ReviewAnswer.EDIT else body
        same = isinstance(judged, Hold) and edited == body
        author = Author.WARNED if same else Author.OWNER
        body = edited
    raise AssertionError  # pragma: no cover - count() does not end


def _whose(
    delivery: Delivery, reach: Reach, written: GatedText, task: Task
) -> tuple[str, Author, bool]:
    """The text as it stands, whose it is, and whether even an allowed one is asked about."""
    if delivery.is_cut:
        # A part was let go to one address; if that is another by now, it is a new question.
        return delivery.body or "", Author.BRAIN, delivery.address != reach.address
    if delivery.content is not None:
        # Only what came from the owner is his; what a mail wrote for him is judged as a reply is.
        return delivery.content, Author.OWNER if task.taint is Taint.OWNER else Author.BRAIN, False
    return written.text, written.author, written.asks_first


def _delivered(put_off: Sequence[answers.SendRetry], steps: Steps) -> Outcome:
    deliveries = steps.task.delivery
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
