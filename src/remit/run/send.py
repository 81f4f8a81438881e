"""Sends approved texts: to whom, which text, in which order, and with what result."""

from collections.abc import Collection, Sequence
from itertools import count

from msgspec.structs import replace

from remit import gate, review
from remit.delivery.courier import DailyLimitReached, ReadyDelivery
from remit.gate import Author
from remit.language.sentences import sentences, task_language
from remit.model import delivery as answers
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.permit import Reach
from remit.model.reply import Deliverable, Hold, Policy, Reply
from remit.model.review import Decision, Review, ReviewAnswer
from remit.model.run import Done, Fail, Later, Outcome, Retry, Wait, first_line
from remit.model.status import Actor, Status
from remit.model.task import Taint, Task
from remit.model.task_file import has_files, is_frozen
from remit.ports import Steps
from remit.run.attach import attach
from remit.run.run_ports import GatedText, RunPorts


async def deliver(written: GatedText, rooms: RunPorts, steps: Steps) -> Outcome:
    """Send every delivery that is not settled; the task completes only if each was accepted."""
    by = Actor.VERIFIER if steps.task.status is Status.VERIFYING else Actor.EXECUTOR
    await steps.move(Status.DELIVERING, by, soon=all(map(rooms.courier.stays, steps.task.delivery)))
    later: list[answers.SendRetry] = []
    looked: set[str] = set()
    while (delivery := _next(steps.task, looked)) is not None:
        outcome = await _send(delivery, written, rooms, steps)
        if isinstance(outcome, Review):
            return await _doubt(rooms, steps) or Wait(outcome)
        if outcome is None:
            continue  # it was split into parts
        looked.add(str(delivery.id))
        if isinstance(outcome, answers.SendRetry):
            later.append(outcome)
    return await _doubt(rooms, steps) or _outcome_of_deliveries(later, steps)


def approval_card(rooms: RunPorts, task: Task, delivery: Delivery) -> Review | None:
    """Return the question that approves the owner's text before the task has begun.

    It has the key of the question that the send would ask, so its answer counts there. None if the
    text is not known yet, or the gate holds it.
    """
    reach = rooms.courier.reach(delivery, delivery.recipient)
    # A text with a condition is approved after the condition is known.
    if delivery.content is None or task.repeats or task.only_if or not isinstance(reach, Reach):
        return None
    if has_files(delivery.content):
        return None  # its files are frozen by the run
    body, author, _ = _text_and_author(delivery, reach, GatedText("", Author.BRAIN), task)
    body = rooms.courier.shape(delivery, body)
    most = rooms.courier.most((delivery,))
    judged = gate.judge_text(body, most=most, author=author, known=rooms.known)
    if isinstance(judged, Hold):
        return None
    to = replace(delivery, address=reach.address)
    return replace(_approval(rooms, task, to, reach, judged.text), resume_to=Status.NEW)


def _approval(
    rooms: RunPorts, task: Task, to: Delivery, reach: Reach, text: str, why: str = ""
) -> Review:
    """Ask to send a text. If the channel carries no files, the question names those that stay."""
    asked = review.permission(task, to, reach, text, why)
    if not task.files or rooms.courier.carries_files(to):
        return asked
    say = sentences(task_language(task))
    names = ", ".join(each.name for each in task.files)
    note = say["files_stay"].format(to.channel, names)
    return replace(asked, question=f"{note} {asked.question}")


async def settle_doubts(rooms: RunPorts, steps: Steps) -> Outcome | None:
    """Resolve the sends an earlier leg left unknown, before all else; None: continue.

    Every message that may be out is looked up. The owner is asked about those still unknown, one by
    one, before any other question; sends to other people do not wait for the answer. For a
    cancelled task no channel is asked, because a lookup may send the message again.
    """
    cancelled, waits = steps.task.cancel_requested, 0.0
    for delivery in (each for each in steps.task.delivery if each.in_doubt):
        if left := await rooms.courier.held_by_another(delivery, steps.ledger):
            waits = max(waits, left)
        else:
            await rooms.courier.settle(delivery, steps.ledger, asks_channel=not cancelled)
    if waits:
        return Later("another worker may still be sending it", waits)
    if steps.task.status is Status.DELIVERING and not cancelled:
        return None
    return await _doubt(rooms, steps, at_once=cancelled)


async def _doubt(rooms: RunPorts, steps: Steps, *, at_once: bool = False) -> Wait | Later | None:
    """Return the question about the first unknown send, or how long to wait for news.

    What the owner declined to answer stays unknown and is not asked again.
    """
    waits: list[float] = []
    for each in steps.task.delivery:
        if each.status is not DeliveryStatus.UNKNOWN:
            continue
        decisions = await steps.decisions(review.doubt_key(each))
        if any(decision.answer is ReviewAnswer.DECLINE for decision in decisions.values()):
            continue
        left = 0.0 if at_once else rooms.courier.waits(each)
        if not left:
            return Wait(review.doubtful(steps.task, each))
        waits.append(left)
    return Later("news from the provider are waited for", min(waits)) if waits else None


async def _send(
    delivery: Delivery, written: GatedText, rooms: RunPorts, steps: Steps
) -> answers.Answer | Review | None:
    """Send one delivery if it may go now; None: it was split into parts instead."""
    ready = await _prepare(delivery, written, rooms, steps)
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
        return _approval(rooms, steps.task, to, ready.reach, body, answer.why)
    if isinstance(answer, answers.Locked):
        question = review.ask_to_unlock(steps.task, to, answer.why)
        locked = await steps.decided(question.key) is None
        return question if locked else answers.SendRetry(answer.why)
    return answer


def _next(task: Task, looked: Collection[str]) -> Delivery | None:
    """Return the first pending delivery not handled in this leg.

    A part is sent only after the part before it was sent.
    """
    before = DeliveryStatus.SENT
    for each in task.delivery:
        waits = each.part and before is not DeliveryStatus.SENT
        if each.status is DeliveryStatus.PENDING and each.id not in looked and not waits:
            return each
        before = each.status
    return None


async def _prepare(
    delivery: Delivery, written: GatedText, rooms: RunPorts, steps: Steps
) -> ReadyDelivery | answers.Refused | answers.SendRetry | Review:
    """Return what to send and where, if it may go now; else why not, or the question."""
    if delivery.reported is not None:
        nobody = Reach("", delivery.address)
        return ReadyDelivery(
            delivery, nobody, delivery.body or ""
        )  # it was sent; it is only looked up
    reach = await _reach(delivery, rooms, steps)
    if isinstance(reach, Review):
        return reach
    ready = await _body(delivery, reach, written, rooms, steps)
    waits = rooms.courier.put_off(steps.task, ready) if isinstance(ready, ReadyDelivery) else None
    return waits or ready


async def _reach(delivery: Delivery, rooms: RunPorts, steps: Steps) -> Reach | Review:
    """Return the recipient and address: the owner's last words, by the current contact book."""
    words, tries = delivery.recipient, 0
    while (
        decision := await steps.decided(review.whom_key(steps.task, delivery, tries))
    ) is not None:
        words, tries = decision.text or "", tries + 1
    reach = rooms.courier.reach(delivery, words)
    return (
        reach
        if isinstance(reach, Reach)
        else review.ask_whom(steps.task, delivery, tries, reach.sentence)
    )


async def _body(
    delivery: Delivery, reach: Reach, written: GatedText, rooms: RunPorts, steps: Steps
) -> ReadyDelivery | answers.Refused | Review:
    """The exact text to send, or the question that must be answered first."""
    body, author, asks_first = await _text(delivery, reach, written, steps)
    leave = await rooms.courier.leave(steps.task, delivery, reach, asks_first=asks_first)
    if leave.policy is Policy.DENY:
        return answers.Refused(leave.why)
    if delivery.is_cut and not asks_first:
        return ReadyDelivery(delivery, reach, body)  # gated and approved as a whole
    to, seen, at = replace(delivery, address=reach.address), False, None
    body = rooms.courier.shape(delivery, body)
    for tries in count():
        judged = await _judge_body(body, author, to, rooms, steps)
        # A file that is frozen only now has not been shown with its hash.
        seen = seen and is_frozen(body)
        body = body if isinstance(judged, Hold) else judged.text
        if isinstance(judged, Hold):
            question = review.held(steps.task, tries, judged, Reply(body), delivery, reach)
        elif seen:
            return ReadyDelivery(to, reach, judged.text, approved_at=at)
        else:
            question = _approval(rooms, steps.task, to, reach, judged.text)
        decision = await _decision(question, steps)
        if decision is None:
            if isinstance(judged, Hold) or leave.policy is Policy.ASK:
                return question
            return ReadyDelivery(to, reach, judged.text, reach.owner)
        # A text the owner approved or wrote may go to its recipient; the gate still checks it, and
        # it is not rewritten.
        seen, at = True, decision.decided_at
        edited = (decision.text or "") if decision.answer is ReviewAnswer.EDIT else body
        same = isinstance(judged, Hold) and edited == body
        author = Author.WARNED if same else Author.OWNER
        body = edited
    raise AssertionError  # pragma: no cover - count() does not end


async def _decision(question: Review, steps: Steps) -> Decision | None:
    return await steps.decided(question.key) or await steps.decided(review.key_before(question))


async def _judge_body(
    body: str, author: Author, to: Delivery, rooms: RunPorts, steps: Steps
) -> Deliverable | Hold:
    """Judge a text and the files that it names, for one delivery."""
    most = rooms.courier.most((to,))
    judged = gate.judge_text(body, most=most, author=author, known=rooms.known)
    if isinstance(judged, Hold) or not has_files(judged.text):
        return judged
    why = await rooms.courier.files_refused(to)
    if why:
        return Hold(why)
    return await attach(judged.text, rooms.attacher, steps, delivery=to)


async def _text(
    delivery: Delivery, reach: Reach, written: GatedText, steps: Steps
) -> tuple[str, Author, bool]:
    """Return the text to begin with, like `_text_and_author`.

    What the owner wrote for another address of this delivery comes first; it needs his approval.
    """
    if not delivery.is_cut:
        decisions = await steps.decisions(f"{steps.task.round}:")
        own = review.text_for_another_place(steps.task, delivery, reach, decisions)
        if own is not None:
            return own, Author.OWNER, True
    return _text_and_author(delivery, reach, written, steps.task)


def _text_and_author(
    delivery: Delivery, reach: Reach, written: GatedText, task: Task
) -> tuple[str, Author, bool]:
    """Return the text, its author, and whether even an allowed send needs approval."""
    if delivery.is_cut:
        # A part was approved for one address; a different address needs a new approval.
        return delivery.body or "", Author.BRAIN, delivery.address != reach.address
    if delivery.content is not None:
        # Only text from the owner counts as the owner's; text from a mail is judged like a reply.
        return delivery.content, Author.OWNER if task.taint is Taint.OWNER else Author.BRAIN, False
    return written.text, written.author, written.asks_first


def _outcome_of_deliveries(put_off: Sequence[answers.SendRetry], steps: Steps) -> Outcome:
    deliveries = steps.task.delivery
    if put_off:
        # A failed send is retried at its own pace, even if others wait for quiet hours to end.
        soon = min(put_off, key=lambda each: (not each.spends, each.after or 0))
        return Retry(soon.why, soon.after) if soon.spends else Later(soon.why, soon.after or 1.0)
    refused = [d for d in deliveries if d.status is DeliveryStatus.REFUSED]
    if refused:
        sent = sum(d.status is DeliveryStatus.SENT for d in deliveries)
        why = "; ".join(f"{d.channel}: {d.reason}" for d in refused)
        return Fail(f"{len(refused)} of {len(deliveries)} refused ({why}); {sent} sent.")
    return Done(first_line(deliveries[0].body or ""))
