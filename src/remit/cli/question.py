"""Finds the review that is meant: by its own id, or by its task."""

from typing import Final

from remit.cli.words import ambiguous, letters_of, shortened
from remit.errors import AlreadyDecided, BadInput, Conflict, NotFound
from remit.model.codec import stamp
from remit.model.ids import ReviewId, TaskId
from remit.model.review import Review
from remit.store import reviews, tasks
from remit.store.database import Tx

_WHOLE: Final = 26
_ALL: Final = -1


def find(tx: Tx, text: str) -> Review:
    """Return the review: by its own id, or by a task with one question."""
    if text.strip().upper().startswith("REV-"):
        return _by_review_id(tx, text)
    ulid = letters_of(text, "task")
    fitting = list(tasks.ids_like(tx, f"task-{ulid}"))
    asking = [] if text.strip().upper().startswith("TASK-") else _open_like(tx, ulid)
    # A message's card is asked in the same millisecond in which its task is created.
    if len(fitting) == 1:
        asking = [review for review in asking if review.task_id != fitting[0]]
    if len(fitting) + len(asking) > 1:
        raise BadInput(ambiguous(text, [*fitting, *(str(r.id) for r in asking)]), field="id")
    if asking:
        return asking[0]
    if not fitting:
        raise NotFound("task or review", shortened(text))
    return _open_review_of(tx, fitting[0])


def _by_review_id(tx: Tx, text: str) -> Review:
    ulid = letters_of(text, "rev")
    if len(ulid) == _WHOLE:
        found = reviews.get(tx, ReviewId(f"rev-{ulid}"))
        if found.decision is not None:
            at = found.decision.decided_at
            raise AlreadyDecided(str(found.id), found.decision.answer, stamp(at) if at else "")
        return found
    fitting = _open_like(tx, ulid)
    if not fitting:
        raise NotFound("open review", shortened(text))
    if len(fitting) > 1:
        raise BadInput(ambiguous(text, [str(r.id) for r in fitting]), field="id")
    return fitting[0]


def _open_like(tx: Tx, ulid: str) -> list[Review]:
    wanted = f"rev-{ulid}"
    return [r for r in reviews.waiting(tx, _ALL) if str(r.id).startswith(wanted)]


def _open_review_of(tx: Tx, task_id: TaskId) -> Review:
    asked = reviews.of_task(tx, task_id)
    waiting = [review for review in asked if review.decision is None]
    if len(waiting) == 1:
        return waiting[0]
    if waiting:
        ids = ", ".join(str(review.id) for review in waiting)
        raise BadInput(f"Task {task_id} asks ambiguous things; name one: {ids}.", field="id")
    stands = tasks.get(tx, task_id).status
    before = " What it asked was decided before." if asked else ""
    raise Conflict(f"Task {task_id} is {stands}; it asks nothing now.{before}")
