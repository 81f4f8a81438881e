"""Questions, lessons, similar tasks, notices, conversations and turns as JSON.

One form for HTTP, pages, the terminal and files.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from remit.model.codec import Json, JsonMap, pick_fields, stamp, to_json
from remit.model.conversation import Conversation, Notice, Turn
from remit.model.likeness import FileVersion, SimilarTask, changes_in_force
from remit.model.task_file import ATTACHMENTS
from remit.model.view import JsonView, moment_or_none, show

if TYPE_CHECKING:
    from remit.plan.priority import PriorityRules

from remit.model.review import InboxGroup, place_of, rule_of
from remit.model.view import s3_results
from remit.store.inbox import WaitingReview


def changed_json(each: FileVersion) -> JsonMap:
    head = {"change": each.no, **pick_fields(each, "file why by"), "at": stamp(each.made_at)}
    return head | pick_fields(each, "taskId reverts was digest")


def lesson_history(found: tuple[FileVersion, ...]) -> JsonMap:
    """Return all changes, newest first; `holds` are those not reverted."""
    listed = [changed_json(each) for each in reversed(found)]
    return {"changes": [*listed], "holds": [each.no for each in changes_in_force(found)]}


def priority_rules_to_json(found: "PriorityRules", complaint: str | None = None) -> JsonMap:
    """Return each rule with its line, the lists, the default, and the file's error if any."""
    rules: list[Json] = [
        {
            "name": rule.name,
            "line": rule.line,
            "when": rule.when.said,
            "priority": rule.priority.value,
            "because": rule.because,
        }
        for rule in found.rules
    ]
    lists: dict[str, Json] = {name: list[Json](each) for name, each in found.lists.items()}
    return {
        "file": found.file or None,
        "complaint": complaint,
        "rules": rules,
        "lists": lists,
        "default": found.default.value,
    }


def similar_to_json(found: list[SimilarTask], view: JsonView) -> list[Json]:
    """Return similar tasks as JSON, with what they share."""
    return [
        {
            "task": show(each.task, view),
            "by": each.by.value,
            "score": round(max(0.0, min(1.0, each.score)), 3),
        }
        for each in found
    ]


def notice_to_json(each: Notice) -> JsonMap:
    head = {"id": each.id, "kind": each.news.value, **pick_fields(each, "way state")}
    times = {
        "at": stamp(each.made),
        "dueAt": moment_or_none(each.due),
        "toldAt": moment_or_none(each.told),
        "attempts": each.attempts,
        "channel": each.over,
    }
    return (
        head
        | pick_fields(each.telling, "title line href taskId seq")
        | times
        | pick_fields(each, "receipt why")
    )


def conversation_to_json(talk: Conversation) -> JsonMap:
    return pick_fields(talk, "id title channel createdAt updatedAt")


def turn_to_json(record: Turn) -> JsonMap:
    """Return a turn in S3's transcript form; `taskRef` is the first of `taskRefs`."""
    refs: list[Json] = [pick_fields(ref, "taskId action") for ref in record.task_refs]
    return {
        "conversationId": record.conversation_id,
        "turnNumber": record.n,
        "role": record.role.value,
        "content": record.content,
        "timestamp": stamp(record.said_at),
        "channel": record.channel,
        "taskRef": refs[0] if refs else None,
        "taskRefs": refs,
        "answers": record.answers,
        "owed": record.owed,
        "receipt": record.receipt or None,
        "notes": list[Json](record.notes),
        "attachments": record.context.get(ATTACHMENTS, []),
    }


def with_turns(talk: Conversation, turns: Sequence[Turn], before: int | None) -> JsonMap:
    shown: list[Json] = [turn_to_json(each) for each in turns]
    return {**conversation_to_json(talk), "turns": shown, "before": before}


def review_to_json(waiting: WaitingReview, undo: int) -> JsonMap:
    """Return a question with all that is needed to decide it.

    `undo` is how long a decision can be undone. `evidence` is the exact text to approve, and
    `digest` is its seal.
    """
    review, task = waiting.review, waiting.task
    return {
        **pick_fields(review, "id taskId"),
        "taskTitle": task.title,
        "group": InboxGroup.DECIDE.value,
        "reason": review.reason.value,
        "rule": pick_fields(rule_of(review), "name says"),
        "askedBy": task.assigned_agent,
        **pick_fields(review, "question evidence about digest"),
        "sendsTo": to_json(place_of(review, task)),
        "verified": s3_results(task.verdict) if task.verdict else None,
        "cost": pick_fields(waiting.used, "cents tokens"),
        "options": [option.value for option in review.options],
        "undoSeconds": undo,
        **pick_fields(review, "resumeTo openedAt laterUntil"),
        "decision": pick_fields(review.decision, "answer text by decidedAt")
        if review.decision
        else None,
    }


def review_receipt(content: JsonMap) -> JsonMap:
    """Return a question's state without its words, for a caller who may decide but not read."""
    words = dict.fromkeys(("taskTitle", "question", "evidence"), "")
    gone = dict.fromkeys(("askedBy", "about", "digest", "sendsTo", "verified", "decision"))
    return {**content, **words, **gone, "rule": {"name": "", "says": ""}}
