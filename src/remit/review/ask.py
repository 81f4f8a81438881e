"""The questions a run may ask, each with a key that makes it asked once, and the owner's inbox."""

import hashlib
import json
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from remit.errors import BadInput
from remit.language.sentences import held_sentence, message_language, sentences
from remit.model.codec import stamp, text_of, to_json
from remit.model.contract import ChangedTest
from remit.model.delivery import Delivery
from remit.model.ids import ReviewId, TaskId
from remit.model.likeness import DraftedLesson, Lesson
from remit.model.permit import Permission, Reach
from remit.model.reply import Ask, Hold, Reply, ToolCall
from remit.model.review import (
    AT_ONCE,
    CONDITION,
    FIX,
    INTENDED,
    LESSON,
    MERGE,
    SEND,
    WORK,
    Decision,
    Review,
    ReviewAnswer,
    Undo,
)
from remit.model.settled_task import Settle
from remit.model.specialist import PROJECT
from remit.model.status import Reason, Status
from remit.model.task import Taint, Task
from remit.ports import Clock
from remit.store import inbox, reviews
from remit.store.database import Database


def question(task: Task, place: str, ask: Ask) -> Review:
    """Ask the owner what the brain needs to continue."""
    return Review(
        task_id=task.id,
        key=f"{task.round}:ask:{place}",
        reason=ask.reason,
        question=ask.question,
        about=ask.about,
        resume_to=Status.RUNNING,
    )


def endless(task: Task, turns: int, before: str = "") -> Review:
    """Ask whether a brain that keeps calling tools shall continue."""
    words = f"It has used tools in {turns} turns and has come to no end. Say go on, or decline."
    return question(task, f"{before}turns:{turns}", Ask(Reason.INPUT, words))


def condition(task: Task, place: int, words: str) -> Review:
    """Ask whether a message's condition is true, if no brain can look it up."""
    return Review(
        task_id=task.id,
        key=f"{task.round}:condition:{place}",
        reason=Reason.APPROVAL,
        question=_say(task)["ask_holds"].format(words),
        evidence="\n".join(_planned(each, _say(task)) for each in task.delivery if each.recipient),
        about=CONDITION,
        resume_to=Status.RUNNING,
    )


def _say(task: Task) -> dict[str, str]:
    """What is said in the language of the message that a task came from."""
    return sentences(message_language(task.request.text if task.request else ""))


def _planned(delivery: Delivery, say: dict[str, str]) -> str:
    text = f": {delivery.content}" if delivery.content else ""
    return say["planned"].format(delivery.recipient, delivery.channel) + text


def call(task: Task, place: str, wanted: ToolCall, problem: str = "") -> Review:
    """Ask the owner to allow a tool call, bound by its digest."""
    return Review(
        task_id=task.id,
        key=f"{task.round}:call:{place}:{wanted.digest}",
        reason=Reason.APPROVAL,
        question=f"{problem}May it use {wanted.tool} with these arguments?",
        evidence=json.dumps(wanted.args, ensure_ascii=False, indent=2),
        about=f"call:{wanted.id}",
        digest=wanted.digest,
        resume_to=Status.RUNNING,
    )


def begun(task: Task, place: str, wanted: ToolCall, why: str) -> Review:
    """Ask about a call that was begun and has no recorded end."""
    return Review(
        task_id=task.id,
        key=f"{task.round}:begun:{place}",
        reason=Reason.AMBIGUOUS,
        question=(
            f"It is not known whether {wanted.tool} was done. {why} "
            "Was it? Remit will not do it again unless you say so."
        ),
        evidence=json.dumps(wanted.args, ensure_ascii=False, indent=2),
        about=f"call:{wanted.id}",
        resume_to=Status.RUNNING,
    )


def held(
    task: Task,
    tries: int,
    hold: Hold,
    reply: Reply,
    delivery: Delivery | None = None,
    reach: Reach | None = None,
) -> Review:
    """Ask about a text that the gate held. The owner's text goes to this person, or is asked."""
    key = held_key(task, tries, delivery)
    if delivery is not None and reach is not None and not reach.owner:
        key = f"{key}:{seal(task, delivery, reach, '')}"
    return Review(
        task_id=task.id,
        key=key,
        reason=Reason.DELIVERABLE,
        question=f"{hold.reason} Write what shall be sent, send it back, or decline.",
        evidence=reply.text,
        resume_to=Status.RUNNING if delivery is None and task.contract else Status.DELIVERING,
    )


def held_key(task: Task, tries: int = 0, delivery: Delivery | None = None) -> str:
    """Return the key under which the owner's own text is stored if the gate held the reply."""
    return f"{task.round}:held:{delivery.id if delivery else 'reply'}:{tries}"


def whom(task: Task, delivery: Delivery, tries: int, sentence: str) -> Review:
    """Ask whom some words mean, or which address that person has."""
    return Review(
        task_id=task.id,
        key=whom_key(task, delivery, tries),
        reason=Reason.INPUT,
        question=f"{sentence} Answer with a name of the book or with an address, or decline.",
        evidence=delivery.content or "",
        about=delivery.id,
        resume_to=Status.DELIVERING,
    )


def whom_key(task: Task, delivery: Delivery, tries: int) -> str:
    """Return the key of the owner's answer about a recipient."""
    return f"{task.round}:whom:{delivery.id}:{tries}"


def permission(task: Task, delivery: Delivery, reach: Reach, body: str, why: str = "") -> Review:
    """Ask to write to someone other than the owner. The approval is bound by a digest."""
    digest = seal(task, delivery, reach, body)
    to = Permission(reach.name, delivery.channel, reach.address or "")
    name = _say(task)["you"] if reach.owner else reach.shown
    asked = _say(task)["send_this"].format(name, delivery.channel)
    return Review(
        task_id=task.id,
        key=f"{task.round}:send:{digest}",
        reason=Reason.APPROVAL,
        question=f"{why.strip() or _why(task, reach)} {asked}".strip(),
        evidence=body,
        about=None if reach.owner else f"{SEND}:{text_of(to_json(to))}",
        digest=digest,
        resume_to=Status.DELIVERING,
    )


def _why(task: Task, reach: Reach) -> str:
    """Why a message waits for a word of the owner, whatever the owner allowed."""
    if reach.owner or not (task.veto or task.taint is not Taint.OWNER):
        return ""
    language = message_language(task.request.text if task.request else "")
    if task.taint is not Taint.OWNER:
        return sentences(language)["tainted"]
    return held_sentence(task.veto, language)


def unproven(task: Task, why: str, evidence: str) -> Review:
    """Ask about work that does not meet its contract after all fixes, or cannot be checked.

    Accepted code is kept and merged before anything is sent.
    """
    code = (task.assigned_agent or "").startswith(PROJECT)
    return Review(
        task_id=task.id,
        key=unproven_key(task),
        reason=Reason.VERIFICATION,
        question=f"Not proven: {why}. Accept it as it is, send it back, or decline?",
        evidence=evidence,
        resume_to=Status.DELIVERING if task.delivery and not code else Status.RUNNING,
    )


def unproven_key(task: Task) -> str:
    """Return the key of the owner's decision that this round's work is good as it is."""
    return f"{task.round}:unproven"


def exhausted(task: Task, place: str, why: str, told: Sequence[str]) -> Review:
    """Ask after every specialist has tried: shows the attempts, and what can be done."""
    return Review(
        task_id=task.id,
        key=f"{task.round}:work:{place}",
        reason=Reason.VERIFICATION,
        question=(
            f"{why} Have it tried again in another way, do it yourself in its folder, take it "
            "unproven with a reason, or decline?"
        ),
        evidence="\n".join(told),
        about=WORK,
        resume_to=Status.RUNNING,
    )


def merge(task: Task, branch: str, commit: str, tries: int, stands: str, diff: str) -> Review:
    """Ask to merge finished work. The approval is bound to one commit."""
    return Review(
        task_id=task.id,
        key=f"{task.round}:merge:{commit}:{tries}",
        reason=Reason.APPROVAL,
        question=f"{stands} Merge {branch} into your folder, send it back, or leave it there?",
        evidence=diff,
        about=f"{MERGE}:{branch}",
        digest=commit,
        resume_to=Status.RUNNING,
    )


def intended(task: Task, changed: Sequence[ChangedTest], why: str, diff: str) -> Review:
    """Ask about changed tests without which the work fails.

    The approval is bound to their content.
    """
    digest = hashlib.sha256(text_of([to_json(each) for each in changed]).encode()).hexdigest()
    named = ", ".join(each.path for each in changed)
    return Review(
        task_id=task.id,
        key=f"{task.round}:{INTENDED}:{digest}",
        reason=Reason.APPROVAL,
        question=(
            f"{why} With the tests as the work left them, all pass. "
            f"Is this change of {named} intended?"
        ),
        evidence=diff,
        about=f"{INTENDED}:{digest[:12]}",
        digest=digest,
        resume_to=Status.RUNNING,
    )


def fix(task: Task, what: str, evidence: str) -> Review:
    """Ask whether to fix merged work that failed its deferred checks."""
    return Review(
        task_id=task.id,
        key=f"{task.round}:fix",
        reason=Reason.APPROVAL,
        question=f"{what} Have it fixed, or leave it?",
        evidence=evidence,
        about=FIX,
        resume_to=Status.NEW,
    )


def lesson(task: Task, place: int, learned: Lesson, drafted: DraftedLesson) -> Review:
    """Ask about a lesson. The approval is bound to the whole new text of the file."""
    named = ", ".join(learned.tasks)
    return Review(
        task_id=task.id,
        key=f"{task.round}:lesson:{place}:{drafted.digest}",
        reason=Reason.APPROVAL,
        question=(
            f"{learned.why} {drafted.tried} Put this into {learned.file.value}, or leave it out?"
        ),
        evidence=f"Tasks: {named}\n\n{drafted.diff}",
        about=f"{LESSON}:{learned.key}",
        digest=drafted.digest,
        resume_to=Status.RUNNING,
    )


def locked(task: Task, delivery: Delivery, why: str) -> Review:
    """Ask the owner to fix a channel's account before anything is sent on it."""
    return Review(
        task_id=task.id,
        key=f"locked:{delivery.id}:{task.lease}",
        reason=Reason.AUTH,
        question=(
            f"{delivery.channel} does not take messages: {why.rstrip('.')}. "
            "Put it right, then approve."
        ),
        about=f"channel:{delivery.channel}",
        resume_to=Status.DELIVERING,
    )


def doubtful(task: Task, delivery: Delivery) -> Review:
    """Nobody knows whether a message arrived."""
    return Review(
        task_id=task.id,
        key=f"{doubt_key(delivery)}{task.lease}",
        reason=Reason.AMBIGUOUS,
        question=_say(task)["ask_arrived"].format(
            delivery.recipient or _say(task)["you"], delivery.channel, delivery.reason
        ),
        evidence=delivery.body or "",
        about=delivery.id,
        resume_to=Status.DELIVERING if task.status is Status.DELIVERING else Status.RUNNING,
    )


def doubt_key(delivery: Delivery) -> str:
    """Return the key prefix of questions whether this delivery arrived."""
    return f"doubt:{delivery.id}:"


def seal(task: Task, delivery: Delivery, reach: Reach, body: str) -> str:
    """Return the digest of what is approved: these bytes, channel, person, address and time."""
    slot = stamp(task.slot) if task.slot else ""
    place = (str(delivery.id), delivery.channel, slot)
    parts = (*place, "" if reach.owner else reach.name, reach.address or "", body)
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


MAX_LATER: Final = timedelta(days=90)


class Inbox:
    """`settling` returns the function that applies an answer about a request to its task.

    `undo` is how long an approval can be undone.
    """

    def __init__(
        self,
        db: Database,
        clock: Clock,
        settling: Callable[[], Settle] | None = None,
        undo: Undo = AT_ONCE,
    ) -> None:
        self._db = db
        self._clock = clock
        self._settling = settling
        self._undo = undo

    async def waiting(self) -> list[Review]:
        return await self._db.read(reviews.waiting)

    async def of_task(self, task_id: TaskId) -> list[Review]:
        return await self._db.read(reviews.of_task, task_id)

    async def grant(self, reason: Reason, what: str, about: str | None = None) -> int:
        """Settle every question that waited for something that exists now.

        It is recorded as the owner's decision.
        """
        open_ = await self._db.read(reviews.waiting_for, reason, about)
        for each in open_:
            assert each.id is not None  # noqa: S101 - what waits has been stored
            await self.decide(each.id, Decision(ReviewAnswer.APPROVE, by=f"owner: {what}"))
        return len(open_)

    async def later(self, review_id: ReviewId, until: datetime) -> Review:
        """Postpone a question; it stays open and comes back by itself."""
        now = self._clock.now()
        if not now < until <= now + MAX_LATER:
            sentence = f"Say a time to come within {MAX_LATER.days} days, not {stamp(until)}."
            raise BadInput(sentence, field="until")
        return await self._db.write(inbox.put_off, review_id, until, now)

    async def decide(self, review_id: ReviewId, decision: Decision) -> Task:
        """Settle a question, once; the task continues from there."""
        settle = self._settling() if self._settling else None
        now = self._clock.now()
        return await self._db.write(reviews.decide, review_id, decision, now, settle, self._undo)
