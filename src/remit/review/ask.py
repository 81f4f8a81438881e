"""The questions a run may put, each with a key that names its place, so that it is put once."""

import hashlib
import json

from remit.model.delivery import Delivery
from remit.model.reply import Ask, Hold, Reply, ToolCall
from remit.model.review import Review
from remit.model.status import Reason, Status
from remit.model.task import Task


def question(task: Task, place: str, ask: Ask) -> Review:
    """The brain cannot go on without the owner."""
    return Review(
        task_id=task.id,
        key=f"{task.round}:ask:{place}",
        reason=ask.reason,
        question=ask.question,
        about=ask.about,
        resume_to=Status.RUNNING,
    )


def endless(task: Task, turns: int) -> Review:
    """The brain calls tools and comes to no end."""
    words = f"It has used tools in {turns} turns and has come to no end. Say go on, or decline."
    return question(task, f"turns:{turns}", Ask(Reason.INPUT, words))


def call(task: Task, place: str, wanted: ToolCall, problem: str = "") -> Review:
    """The brain wants something done that the owner must allow. It is bound by a hash."""
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
    """A call was begun and its end is not on record."""
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
    task: Task, tries: int, hold: Hold, reply: Reply, delivery: Delivery | None = None
) -> Review:
    """The gate let nothing through."""
    return Review(
        task_id=task.id,
        key=held_key(task, tries, delivery),
        reason=Reason.DELIVERABLE,
        question=f"{hold.reason} Write what shall be sent, send it back, or decline.",
        evidence=reply.text,
        resume_to=Status.RUNNING if delivery is None and task.contract else Status.DELIVERING,
    )


def held_key(task: Task, tries: int = 0, delivery: Delivery | None = None) -> str:
    """Where the owner's own words stand, if the gate held what the brain wrote in this round."""
    return f"{task.round}:held:{delivery.id if delivery else 'reply'}:{tries}"


def permission(task: Task, delivery: Delivery, body: str) -> Review:
    """Someone other than the owner is to be written to. What is approved is bound by a hash."""
    digest = seal(delivery, body)
    return Review(
        task_id=task.id,
        key=f"{task.round}:send:{digest}",
        reason=Reason.APPROVAL,
        question=f"Send this to {delivery.recipient or 'you'} on {delivery.channel}?",
        evidence=body,
        digest=digest,
        resume_to=Status.DELIVERING,
    )


def unproven(task: Task, why: str, evidence: str) -> Review:
    """The work does not meet its contract and the fixes are used up, or it cannot be checked."""
    return Review(
        task_id=task.id,
        key=unproven_key(task),
        reason=Reason.VERIFICATION,
        question=f"Not proven: {why}. Accept it as it is, send it back, or decline?",
        evidence=evidence,
        resume_to=Status.DELIVERING if task.delivery else Status.RUNNING,
    )


def unproven_key(task: Task) -> str:
    """Where the owner's word stands that this round's work is good as it is."""
    return f"{task.round}:unproven"


def locked(task: Task, delivery: Delivery, why: str) -> Review:
    """A channel's account must be put right before anything goes out on it."""
    return Review(
        task_id=task.id,
        key=f"locked:{delivery.id}:{task.lease}",
        reason=Reason.AUTH,
        question=f"{delivery.channel} does not take messages: {why}. Put it right, then approve.",
        about=f"channel:{delivery.channel}",
        resume_to=Status.DELIVERING,
    )


def doubtful(task: Task, delivery: Delivery) -> Review:
    """Nobody knows whether a message arrived."""
    return Review(
        task_id=task.id,
        key=f"doubt:{delivery.id}:{task.lease}",
        reason=Reason.AMBIGUOUS,
        question=(
            f"It is not known whether this reached {delivery.recipient or 'you'} on "
            f"{delivery.channel}: {delivery.reason}. Did it arrive? Remit will not send it again "
            "unless you say so."
        ),
        evidence=delivery.body or "",
        about=delivery.id,
        resume_to=Status.DELIVERING,
    )


def seal(delivery: Delivery, body: str) -> str:
    """What exactly is approved: these bytes, on this channel, to this person."""
    parts = (str(delivery.id), delivery.channel, delivery.recipient or "", body)
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()
