"""Reviews: opened by a run, decided once."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from remit.errors import AlreadyDecided, NotFound, NotPossibleNow
from remit.model.codec import Json, from_json, stamp
from remit.model.delivery import DeliveryStatus
from remit.model.delivery_moves import STATUS_AFTER_DECISION
from remit.model.ids import ReviewId, TaskId
from remit.model.permit import Permission
from remit.model.reply import Policy
from remit.model.review import (
    AT_ONCE,
    RESTORED,
    SEND,
    Decision,
    Review,
    ReviewAnswer,
    Settle,
    SettledCard,
    Undo,
)
from remit.model.run import EventKind, NewEvent
from remit.model.status import Actor, Reason, Status
from remit.model.task import Task
from remit.store import deferred, events, permissions, rows, tasks
from remit.store.database import Params, Tx, quick

_LACKS_TEXT: Final = {
    ReviewAnswer.EDIT: "Write the message first.",
    ReviewAnswer.BACK: "Write what should be different first.",
    ReviewAnswer.ANSWER: "Write your answer first.",
}


def open_review(tx: Tx, review: Review, by: Actor, now: datetime) -> None:
    """Store a question, with its event. One that is asked again keeps its place in the list."""
    at = rows.ms(review.opened_at or now)
    tx.run("insert_review", rows.columns(review, task=review.task_id, now=at))
    _tell_opened(tx, review, by, now)


def _tell_opened(tx: Tx, review: Review, by: Actor, now: datetime) -> None:
    data: dict[str, Json] = {
        "review": review.id,
        "reason": review.reason,
        "question": review.question,
    }
    events.tell_task(tx, review.task_id, NewEvent(EventKind.REVIEW_OPENED, by, data), now)


def decide(
    tx: Tx,
    review_id: ReviewId,
    decision: Decision,
    now: datetime,
    settle: Settle | None = None,
    undo: Undo = AT_ONCE,
) -> Task:
    """Store the owner's decision and move the task, in one transaction.

    `settle` applies an answer about the request to the task first. `undo` is how long a released
    message can be undone.
    """
    review = get(tx, review_id)
    _check(review, decision)
    _write(tx, review, decision, now)
    if decision.always:
        permissions.put(tx, _permission_of(review), now)
    if review.about is not None and review.reason is Reason.AMBIGUOUS:
        _settle_delivery(tx, review.about, decision.answer, now)
    task, others = tasks.get(tx, review.task_id), _others_on_card(tx, review)
    says_yes = decision.answer is ReviewAnswer.APPROVE and bool(review.card_tasks)
    says = decision.answer is ReviewAnswer.ANSWER or says_yes
    if settle is not None and says and _is_unbegun(task):
        settled = settle((task, *others), review, decision.text or "yes", now)
        _settle(tx, settled, review, decision, now)
        return tasks.get(tx, review.task_id)
    due = undo.due(task, review, decision, now)
    _send_on(tx, task, review, decision, due, now)
    for each in others if decision.answer is ReviewAnswer.DECLINE else ():
        _send_on(tx, each, review, decision, due, now)
    return tasks.get(tx, review.task_id)


def pass_over(tx: Tx, task: Task, review: Review, decision: Decision, now: datetime) -> None:
    """Close a question without an answer to it; the task goes on, and may ask the same again."""
    _write(tx, review, decision, now)
    tx.run("rename_review", {"id": review.id, "key": f"{review.key}:{review.id}"})
    _send_on(tx, task, review, replace(decision, answer=ReviewAnswer.APPROVE), now, now)


@quick
def get(tx: Tx, review_id: ReviewId) -> Review:
    row = tx.one("get_review", {"id": review_id})
    if row is None:
        raise NotFound("review", review_id)
    return rows.review(row)


def waiting(tx: Tx, limit: int = 100) -> list[Review]:
    """Open questions, oldest first."""
    return [rows.review(row) for row in tx.all("list_open_reviews", {"limit": limit})]


def waiting_for(tx: Tx, reason: Reason, about: str | None) -> list[Review]:
    """Return every open question with this reason and subject."""
    found = tx.all("list_open_reviews_about", {"reason": reason, "about": about})
    return [rows.review(row) for row in found]


def asking(tx: Tx, task_ids: Sequence[TaskId]) -> frozenset[TaskId]:
    """Return those of some tasks that have an open question."""
    if not task_ids:
        return frozenset()
    found = tx.all("list_tasks_with_open_reviews", {"tasks": json.dumps(task_ids)})
    return frozenset(TaskId(str(row["task_id"])) for row in found)


def count_unbegun(tx: Tx) -> int:
    """Return how many tasks ask before they begin: they wait for an answer."""
    return rows.number(tx.all("count_unstarted_with_reviews")[0]["tasks"])


def of_task(tx: Tx, task_id: TaskId) -> list[Review]:
    """Return the questions of a task, and the open card it shares with others."""
    return [rows.review(row) for row in tx.all("list_task_reviews", {"task": task_id})]


def waiting_of(tx: Tx, task_id: TaskId) -> Review | None:
    """Return the question of a task that waits for the owner, if one does."""
    return next((each for each in of_task(tx, task_id) if each.decision is None), None)


def decisions(tx: Tx, task_id: TaskId) -> dict[str, Decision]:
    """Return the decisions of a task, by the key of the question."""
    return {r.key: r.decision for r in of_task(tx, task_id) if r.decision is not None}


def close_all(tx: Tx, task_id: TaskId, by: Actor, now: datetime) -> None:
    """Close the questions of a cancelled task; a shared card is left to the others."""
    for review in of_task(tx, task_id):
        if review.decision is not None or review.task_id != task_id:
            continue
        others = _others_on_card(tx, review)
        if others:
            moved = replace(review, task_id=others[0].id)
            tx.run("set_review_task", {"id": review.id, "task": moved.task_id})
            _tell_opened(tx, moved, by, now)
        else:
            _write(tx, review, Decision(ReviewAnswer.DECLINE, by=by.value), now, closed_by=by)


def about_restore(tx: Tx, task_id: TaskId) -> Review | None:
    """Return the open question whether a task may run again after a restore."""
    asked = (each for each in of_task(tx, task_id) if each.about == RESTORED)
    return next((each for each in asked if each.decision is None), None)


def undoable(tx: Tx, task: Task) -> Review | None:
    """Return the last decision that releases a message while nothing was sent, or that declines."""
    found = [each for each in of_task(tx, task.id) if each.decision and each.decision.decided_at]
    last = max(found, key=_decided_at, default=None)
    if last is None or last.decision is None:
        return None
    if task.cancel_requested:
        return last if last.decision.answer is ReviewAnswer.DECLINE else None
    if last.resume_to is not Status.DELIVERING:
        return None
    yes = last.decision.answer in (ReviewAnswer.APPROVE, ReviewAnswer.EDIT)
    # Approving a text covers all its recipients; approving a person covers only that one.
    whole = all(each.status is DeliveryStatus.PENDING for each in task.delivery)
    return last if yes and (whole or _is_send(last)) else None


def _decided_at(review: Review) -> tuple[int, str]:
    at = review.decision.decided_at if review.decision else None
    return rows.ms(at) if at else 0, str(review.id)


def reopen(tx: Tx, task: Task, review: Review, now: datetime) -> Task:
    """Undo a decision: the question is open again, and the owner's text is kept."""
    tx.run("reopen_review", {"id": review.id})
    _take_back(tx, review, now)
    for each in (task, *_others_on_card(tx, review)):
        _ask_again(tx, each, review, now)
    return tasks.get(tx, task.id)


def _ask_again(tx: Tx, task: Task, review: Review, now: datetime) -> None:
    """Let a task wait for its question again; one that has not begun does so where it is."""
    begun = task.status is not Status.NEW
    to = Status.NEEDS_REVIEW if begun else Status.NEW
    if begun:
        task.check_move(to, Actor.OWNER)
    asked: Params = {
        "id": task.id,
        "was": task.status.value,
        "to": to.value,
        "reason": review.reason if begun else None,
        "resume_to": review.resume_to if begun else None,
        "now": rows.ms(now),
    }
    row = rows.found(tx.one("reopen_task", asked))
    data: dict[str, Json] = {"was": task.status, "to": to, "review": review.id}
    entry = NewEvent(EventKind.TASK_MOVED, Actor.OWNER, data | {"note": "you called it back"})
    events.append(tx, task.id, rows.number(row["events"]), entry, now)


def _take_back(tx: Tx, review: Review, now: datetime) -> None:
    """Also take back an "always" that came with the approval."""
    if not _is_send(review) or review.decision is None:
        return
    allowed = _permission_of(review)
    for each in permissions.list_for_channel(tx, allowed.channel):
        same = (each.contact, each.address) == (allowed.contact, allowed.address)
        if same and each.given_at == review.decision.decided_at:
            permissions.put(tx, replace(allowed, policy=Policy.ASK), now)


def _is_unbegun(task: Task) -> bool:
    return Status.NEW in (task.status, task.resume_to)


def _others_on_card(tx: Tx, review: Review) -> list[Task]:
    """Return the other tasks that wait for the same card."""
    others = (tasks.get(tx, each) for each in review.card_tasks if each != review.task_id)
    return [task for task in others if _is_unbegun(task) and task.gaps]


def _settle(
    tx: Tx, settled: SettledCard, review: Review, decision: Decision, now: datetime
) -> None:
    """Store the changed tasks, move them on, and ask for what is still open."""
    for each in settled.tasks:
        was = tasks.get(tx, each.task.id)
        if each.task != was:
            tasks.amend(tx, each.task, now)
            _close_settled(tx, each.task, decision, now)
        if each.over or _gap_keys(each.task) != _gap_keys(was) or was.id == review.task_id:
            answer = ReviewAnswer.DECLINE if each.over else decision.answer
            _send_on(tx, was, review, replace(decision, answer=answer), now, now)
    for given in settled.approved:
        open_review(tx, given, Actor.INTAKE, now)
        _write(tx, given, Decision(ReviewAnswer.APPROVE, by=decision.by), now)
    if settled.ask is not None:
        again = replace(settled.ask, opened_at=review.opened_at)
        open_review(tx, again, Actor.INTAKE, now)


def _gap_keys(task: Task) -> list[str]:
    return [gap.key for gap in task.gaps]


def _close_settled(tx: Tx, task: Task, decision: Decision, now: datetime) -> None:
    """Close reviews whose gap is filled: by gap (earlier versions), or a card."""
    open_ = _gap_keys(task)
    for review in of_task(tx, task.id):
        key, _, _ = review.key.rpartition(":")
        of_gap = key.startswith("clause:") and key not in open_
        on_card = (tasks.get(tx, each) for each in review.card_tasks)
        of_card = review.card_tasks and not any(each.gaps for each in on_card if not each.ended)
        if review.decision is None and (of_gap or of_card):
            _write(tx, review, Decision(ReviewAnswer.ANSWER, decision.text, decision.by), now)


def _write(
    tx: Tx, review: Review, decision: Decision, now: datetime, closed_by: Actor | None = None
) -> None:
    settled: Params = {
        "id": review.id,
        "answer": decision.answer,
        "text": decision.text,
        "by": decision.by,
        "now": rows.ms(now),
    }
    tx.run("decide_review", settled)
    data: dict[str, Json] = {"review": review.id, "answer": decision.answer, "by": decision.by}
    if decision.text is not None:
        data["text"] = decision.text
    if decision.always:
        data["always"] = True
    if closed_by is not None:
        data["closed"] = True
    events.tell_task(
        tx, review.task_id, NewEvent(EventKind.REVIEW_DECIDED, closed_by or Actor.OWNER, data), now
    )


def refuse_decided(review: Review) -> None:
    """Raise for a second decision, and name the first."""
    if review.decision is not None:
        at = review.decision.decided_at
        raise AlreadyDecided(str(review.id), review.decision.answer, stamp(at) if at else "")


def _check(review: Review, decision: Decision) -> None:
    refuse_decided(review)
    if decision.answer not in review.options:
        may = ", ".join(review.options)
        sentence = f"Review {review.id} may be decided with {may}, not {decision.answer}."
        raise NotPossibleNow(sentence, field="answer")
    yes = decision.answer in (ReviewAnswer.APPROVE, ReviewAnswer.EDIT)
    if decision.always and not (yes and _is_send(review)):
        sentence = f"Review {review.id}: only to approve a message to someone is meant for always."
        raise NotPossibleNow(sentence, field="always")
    if review.needs_text(decision.answer) and not (decision.text and decision.text.strip()):
        raise NotPossibleNow(_LACKS_TEXT.get(decision.answer, "Write why first."), field="text")


def _is_send(review: Review) -> bool:
    return (review.about or "").startswith(f"{SEND}:")


def _permission_of(review: Review) -> Permission:
    """Return the permission that "always" stores: this person, channel and shown address."""
    address = (review.about or "").removeprefix(f"{SEND}:")
    return from_json(Permission, json.loads(address))


def _settle_delivery(tx: Tx, delivery_id: str, answer: ReviewAnswer, now: datetime) -> None:
    to = STATUS_AFTER_DECISION.get(answer)
    if to is not None:
        why = f"the owner said: {answer.value}"
        tx.run("decide_delivery", {"id": delivery_id, "to": to, "why": why, "now": rows.ms(now)})


def _send_on(
    tx: Tx, task: Task, review: Review, decision: Decision, due: datetime, now: datetime
) -> None:
    to = _status_after(task, review, decision.answer)
    # The next leg ends it: an unknown message is asked about first, and a decline can be undone.
    waits = due > now and task.status in (Status.NEW, Status.NEEDS_REVIEW)
    asks_first = to is Status.CANCELLED and (has_other_doubts(task, review) or waits)
    if asks_first:
        to = Status.NEW if task.status is Status.NEW else review.resume_to
    if to is not task.status:
        task.check_move(to, Actor.OWNER)
    back = decision.answer is ReviewAnswer.BACK
    if to is Status.CANCELLED:
        close_all(tx, task.id, Actor.OWNER, now)
    # Words about recipients are for the courier; a brain never sees an address.
    has_text = back or review.resume_to is not Status.DELIVERING
    has_text = has_text and (back or decision.answer is ReviewAnswer.ANSWER)
    text = decision.text if has_text else None
    row = tx.one(
        "resume_task",
        {
            "id": task.id,
            "was": task.status.value,
            "to": to.value,
            "due_at": None if to in (Status.CANCELLED, Status.PAUSED) else rows.ms(due),
            "completed_at": rows.ms(now) if to is Status.CANCELLED else None,
            "back": back,
            "said": text,
            "wish": "cancel" if asks_first else None,
            "now": rows.ms(now),
        },
    )
    assert row is not None  # noqa: S101 - read in this very transaction
    data: dict[str, Json] = {"was": task.status, "to": to, "review": review.id}
    entry = NewEvent(EventKind.TASK_MOVED, Actor.OWNER, data)
    events.append(tx, task.id, rows.number(row["events"]), entry, now)
    if to is Status.CANCELLED:
        deferred.drop(tx, task, now)
        tasks.tell_parent(tx, task, to, None, now)


def has_other_doubts(task: Task, asked: Review | None) -> bool:
    """Whether another message of a task may be out, besides the one asked about."""
    about = asked.about if asked is not None and asked.reason is Reason.AMBIGUOUS else None
    return any(each.in_doubt and each.id != about for each in task.delivery)


def _status_after(task: Task, review: Review, answer: ReviewAnswer) -> Status:
    if answer is ReviewAnswer.DECLINE:
        return Status.CANCELLED
    if task.status in (Status.NEW, Status.PAUSED):
        return task.status  # about the request itself: it is ranked after that
    return Status.RUNNING if answer is ReviewAnswer.BACK else review.resume_to
