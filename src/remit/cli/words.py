"""Words for the terminal (statuses, times, people), and the task that a typed id means."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from remit.cli.out import StyledText
from remit.errors import BadInput, NotFound, RemitError
from remit.model import review as review_model
from remit.model.codec import distance
from remit.model.delivery import Delivery
from remit.model.ids import TaskId
from remit.model.review import Review, ReviewAnswer
from remit.model.status import Status
from remit.model.task import Task
from remit.store import search, tasks
from remit.store.database import Tx
from remit.store.search import TaskFilter
from remit.system.files import home_of

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_ZONE: Final = re.compile(r"^\s*[\"']?zone[\"']?\s*=", re.MULTILINE)
_STYLE: Final = {
    Status.RUNNING: "cyan",
    Status.VERIFYING: "cyan",
    Status.DELIVERING: "cyan",
    Status.NEEDS_REVIEW: "yellow",
    Status.PAUSED: "dim",
    Status.COMPLETED: "green",
    Status.FAILED: "red",
    Status.CANCELLED: "dim",
}
_LONG_AGO: Final = timedelta(days=14)


class AnswerWords(NamedTuple):
    """How an answer is typed, what it is called, and its key in the inbox."""

    command: str
    meaning: str
    key: str


# A key is unique within one question.
ANSWERS: Final = {
    ReviewAnswer.APPROVE: AnswerWords("remit approve {id}", "approve", "a"),
    ReviewAnswer.EDIT: AnswerWords("remit approve {id} --edit", "edit and approve", "e"),
    ReviewAnswer.BACK: AnswerWords('remit back {id} -m "…"', "send back", "r"),
    ReviewAnswer.ANSWER: AnswerWords('remit answer {id} "…"', "answer", "a"),
    ReviewAnswer.ARRIVED: AnswerWords("remit arrived {id}", "yes, it arrived", "y"),
    ReviewAnswer.RESEND: AnswerWords("remit resend {id}", "send again", "r"),
    ReviewAnswer.DROP: AnswerWords("remit drop {id}", "leave it out", "o"),
    ReviewAnswer.DECLINE: AnswerWords("remit decline {id}", "decline", "d"),
}
# Some questions have their own words for answers.
_MEANINGS: Final = {
    review_model.WORK: {
        ReviewAnswer.BACK: "try again",
        ReviewAnswer.ARRIVED: "I did it myself",
        ReviewAnswer.DROP: "take it unproven",
    },
    review_model.LESSON: {
        ReviewAnswer.APPROVE: "put it in",
        ReviewAnswer.DROP: "leave it out, and do not propose it for 30 days",
    },
    review_model.INTENDED: {
        ReviewAnswer.APPROVE: "it is intended",
        ReviewAnswer.DROP: "it is not, have it fixed",
    },
    review_model.FIX: {ReviewAnswer.APPROVE: "fix it", ReviewAnswer.DECLINE: "leave it"},
    review_model.RESTORED: {ReviewAnswer.APPROVE: "run it once", ReviewAnswer.DECLINE: "leave it"},
    review_model.CARD: {
        ReviewAnswer.APPROVE: "yes, as shown",
        ReviewAnswer.ANSWER: "answer, or change a line",
    },
    review_model.CONTACT_RULE: {
        ReviewAnswer.APPROVE: "make it a rule",
        ReviewAnswer.DECLINE: "leave it",
    },
    review_model.CONDITION: {
        ReviewAnswer.APPROVE: "it holds, go on",
        ReviewAnswer.DROP: "it does not hold, send nothing",
    },
    review_model.MERGE: {
        ReviewAnswer.APPROVE: "merge it",
        ReviewAnswer.DROP: "leave it on its branch",
    },
}


def status(task: Task, now: datetime, *, asks: bool = False) -> StyledText:
    """Return a task's status in a word or two; `asks`: whether it has an open question."""
    if asks and task.status in (Status.NEW, Status.PAUSED):
        return StyledText("asks you", _STYLE[Status.NEEDS_REVIEW])
    if task.deleted_at is not None:
        return StyledText(f"{task.status.value}, deleted", "dim")
    if task.status in (Status.NEW, Status.READY) and (waits := _waits_for(task, now)):
        return StyledText(waits, "")
    if task.cancel_requested and not task.ended:
        return StyledText("cancelling", "dim")
    return StyledText(status_word(task.status), _STYLE.get(task.status, ""))


def _waits_for(task: Task, now: datetime) -> str:
    """Return what an unbegun task waits for, in a word if possible."""
    if task.pending_reading is not None:
        return "being read"
    later = task.status is Status.READY and task.scheduled_for and task.scheduled_for > now
    return "scheduled" if later else ""


def status_word(status: Status) -> str:
    return status.value.replace("_", " ")


def latest(task: Task) -> datetime:
    """Return the most relevant moment of a task now."""
    if task.ended:
        return task.completed_at or task.last_updated
    if task.status in (Status.NEW, Status.READY) and task.scheduled_for:
        return task.scheduled_for
    return task.created_at if task.status in (Status.NEW, Status.READY) else task.last_updated


def relative(moment: datetime, now: datetime) -> str:
    """Return how far away a moment is, as people say it."""
    away = abs(moment - now)
    if away > _LONG_AGO:
        return f"{moment.astimezone(owner_zone()):%Y-%m-%d}"
    many, unit = distance(moment, now)
    if moment > now:
        return f"in {max(1, many)} {unit}"
    return "just now" if unit == "s" else f"{many} {unit} ago"


def owner_zone() -> "ZoneInfo | None":
    """Return the zone of the settings; None, which is the machine's, if they cannot be read."""
    file = home_of(os.environ) / "settings.toml"
    return _zone_in(file, file.stat().st_mtime_ns if file.exists() else 0)


@lru_cache(maxsize=2)
def _zone_in(file: Path, changed: int) -> "ZoneInfo | None":
    named = changed and _ZONE.search(file.read_text("utf-8", "replace"))
    if not named and "REMIT_ZONE" not in os.environ:
        return None  # the machine's, without reading all settings
    from remit import settings as app_settings  # noqa: PLC0415 - as above
    from remit.system.owner_zone import find_owner_zone  # noqa: PLC0415 - as above

    try:
        return find_owner_zone(app_settings.load().zone, os.environ).zone
    except RemitError:
        return None


def local(moment: datetime) -> str:
    """Return a moment on the owner's clock."""
    return f"{moment.astimezone(owner_zone()):%Y-%m-%d %H:%M:%S}"


def distance_words(moment: datetime, now: datetime) -> str:
    """Return how far away a moment is, if it is near enough."""
    return relative(moment, now) if abs(moment - now) <= _LONG_AGO else ""


def planned_words(moment: datetime, now: datetime) -> str:
    """Return a future moment, and how far away it is if near enough."""
    away = distance_words(moment, now)
    return f"{local(moment)} ({away})" if away else local(moment)


def clock(moment: datetime) -> str:
    return f"{moment.astimezone(owner_zone()):%H:%M:%S}"


def to_whom(delivery: Delivery) -> str:
    return f"{delivery.recipient or 'you'}, on {delivery.channel}"


def answer_commands(review: Review, ref: str) -> list[str]:
    """Return the commands that answer a question."""
    return [_answer_command(review, answer).format(id=ref) for answer in review.options]


def _answer_command(review: Review, answer: ReviewAnswer) -> str:
    text = ANSWERS[answer].command
    if answer is ReviewAnswer.DROP and review.needs_text(answer):
        text = f'{text} -m "…"'
    has_own = _kind_of_subject(review) in _MEANINGS
    return f"{text}  ({answer_meaning(review, answer)})" if has_own else text


def answer_meaning(review: Review, answer: ReviewAnswer) -> str:
    """Return what an answer means for this question."""
    return _MEANINGS.get(_kind_of_subject(review), {}).get(answer, ANSWERS[answer].meaning)


def _kind_of_subject(review: Review) -> str:
    return (review.about or "").partition(":")[0]


def count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


_SHOWN_BY: Final = {"task": "remit ls", "rev": "remit inbox", "ser": "remit schedule"}
_LETTERS: Final = re.compile(r"[0-9A-HJKMNP-TV-Z]{1,26}")
_SHORT: Final = (10, 14, 18, 22)  # ten letters are the millisecond of creation: usually enough


def typed_ids(given: Sequence[str]) -> list[str]:
    """Return the ids as typed; `-` reads them from stdin."""
    found: list[str] = []
    for word in given:
        if word.startswith("-") and word != "-":
            sentence = f"{shorten(word)} is no option of this command; --help lists them."
            raise BadInput(sentence, field="id")
        found += sys.stdin.read().split() if word == "-" else [word]
    if not found:
        raise BadInput("Which one? Give an id, or the first letters of it.", field="id")
    return list(dict.fromkeys(found))


def find_task(tx: Tx, text: str) -> TaskId:
    """Return the task whose id has this prefix, in any case, with or without `task-`."""
    ulid = letters_of(text, "task")
    fitting = list(tasks.ids_like(tx, f"task-{ulid}"))
    if not fitting:
        raise NotFound("task", shorten(text))
    if len(fitting) > 1:
        raise BadInput(ambiguous(text, fitting), field="id")
    return fitting[0]


def every_task(tx: Tx, wanted: TaskFilter) -> Iterator[Task]:
    """Yield all tasks that fit, page by page."""
    while True:
        page = search.page(tx, wanted)
        yield from page.tasks
        if page.next is None:
            return
        wanted = replace(wanted, before=page.next)


def short_id(tx: Tx, task_id: TaskId) -> str:
    """Return the shortest unique prefix of an id."""
    ulid = task_id.removeprefix("task-")
    for length in _SHORT:
        if len(list(tasks.ids_like(tx, f"task-{ulid[:length]}"))) == 1:
            return ulid[:length]
    return ulid


def letters_of(text: str, prefix: str) -> str:
    letters = text.strip().upper().removeprefix(f"{prefix.upper()}-")
    if not _LETTERS.fullmatch(letters):
        sentence = (
            f"{shorten(text)!r} is not the beginning of an id; "
            f"one looks like {prefix}-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA. `{_SHOWN_BY[prefix]}` shows them."
        )
        raise BadInput(sentence, field="id")
    return letters


def ambiguous(text: str, fitting: Sequence[str]) -> str:
    return f"{shorten(text)!r} fits several: {', '.join(fitting)}. Type more of it."


def shorten(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."  # noqa: PLR2004
