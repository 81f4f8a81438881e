"""A question to the owner as JSON: one form for HTTP, pages, the terminal and files."""

from datetime import datetime

from remit.model.codec import JsonMap, stamp, to_json
from remit.model.review import Decision, group_of, place_of, rule_of
from remit.model.view import s3_results
from remit.store.inbox import WaitingReview


def review_to_json(waiting: WaitingReview, undo: int) -> JsonMap:
    """Return a question with all that is needed to decide it.

    `undo` is how long a decision can be undone. `evidence` is the exact text to approve, and
    `digest` is its seal.
    """
    review, task = waiting.review, waiting.task
    rule, place = rule_of(review), place_of(review, task)
    return {
        "id": review.id,
        "taskId": review.task_id,
        "taskTitle": task.title,
        "group": group_of(review).value,
        "reason": review.reason.value,
        "rule": {"name": rule.name, "says": rule.says},
        "askedBy": task.assigned_agent,
        "question": review.question,
        "evidence": review.evidence,
        "about": review.about,
        "digest": review.digest,
        "sendsTo": to_json(place),
        "verified": s3_results(task.verdict) if task.verdict else None,
        "cost": {"cents": waiting.used.cents, "tokens": waiting.used.tokens},
        "options": [option.value for option in review.options],
        "undoSeconds": undo,
        "resumeTo": review.resume_to.value,
        "openedAt": _at(review.opened_at),
        "laterUntil": _at(review.later_until),
        "decision": _decision(review.decision) if review.decision else None,
    }


def review_receipt(content: JsonMap) -> JsonMap:
    """Return a question's state without its words, for a caller who may decide but not read."""
    words = dict.fromkeys(("taskTitle", "question", "evidence"), "")
    gone = dict.fromkeys(("askedBy", "about", "digest", "sendsTo", "verified", "decision"))
    return {**content, **words, **gone, "rule": {"name": "", "says": ""}}


def _decision(decision: Decision) -> JsonMap:
    return {
        "answer": decision.answer.value,
        "text": decision.text,
        "by": decision.by,
        "decidedAt": _at(decision.decided_at),
    }


def _at(moment: datetime | None) -> str | None:
    return stamp(moment) if moment else None
