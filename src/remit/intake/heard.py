"""What the owner said, and what was understood of it, as it is told to whoever asked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

from remit.intake.extraction import Draft, Extraction
from remit.intake.recipients import About, Question
from remit.language.order_words import Talk
from remit.model.codec import Json, JsonMap, from_json, stamp, to_json
from remit.model.conversation import TalkContext, TurnOrder
from remit.model.delivery import Delivery
from remit.model.ids import TaskId
from remit.model.plan import Clause, Gap
from remit.model.review import Review
from remit.model.series import Repeats
from remit.model.task import Priority, Source, Taint, Task
from remit.model.view import View, show


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What the owner said, and what he said about all of it beside his words."""

    text: str
    source: Source
    scheduled_for: datetime | None = None
    priority: Priority | None = None
    repeats: Repeats | None = None
    context: JsonMap = field(default_factory=dict)  # what is known of it besides
    home: str | None = None  # the channel by which the owner is answered; else the book's
    taint: Taint = Taint.OWNER  # less, if others' words came along with his
    said_at: datetime | None = None  # if that may be long ago
    talk: TalkContext | None = None  # what it may be about, if it is a turn of a conversation


@dataclass(frozen=True, slots=True)
class Heard:
    """What a message became. Without tasks, `clauses` and `unasked` are of the message itself."""

    tasks: tuple[Task, ...]
    reviews: tuple[Review, ...] = ()
    answer: Talk | None = None
    clauses: tuple[Clause, ...] = ()
    unasked: tuple[Question, ...] = ()
    alike: tuple[str, ...] = ()  # a sentence for each task that looks like another
    order: TurnOrder | None = None  # it is about a task that is there, or an open question

    @property
    def reading(self) -> TaskId | None:
        """The task in whose place its words wait to be read; None once they are."""
        return next((task.id for task in self.tasks if task.pending_reading is not None), None)


def reading_record(found: Extraction) -> Json:
    """What is recorded of a message that a model read."""
    return {
        "tasks": len(found.tasks),
        "answer": to_json(found.answer),
        "clauses": to_json(found.clauses),
        "questions": to_json(found.questions),
    }


def heard_nothing(record: Json) -> Heard | None:
    """A message that was read and asked for nothing, as it was recorded; None for any other."""
    if not isinstance(record, dict) or record.get("tasks") != 0:
        return None
    answer = record["answer"]
    return Heard(
        (),
        answer=None if answer is None else Talk(str(answer)),
        clauses=tuple(from_json(Clause, each) for each in cast("list[Json]", record["clauses"])),
        unasked=tuple(from_json(Question, e) for e in cast("list[Json]", record["questions"])),
    )


def told(heard: Heard, view: View = View.S3) -> JsonMap:
    """All of it, as published: the tasks, every clause, what is asked, and the sort of talk."""
    return {
        "tasks": [show(task, view) for task in heard.tasks],
        "clauses": list(_clauses(heard)),
        "questions": list(_questions(heard)),
        "answer": to_json(heard.answer),
        "alike": list[Json](heard.alike),
        "veto": to_json(tuple(dict.fromkeys(cue for task in heard.tasks for cue in task.veto))),
        "conditions": to_json(tuple(limit for task in heard.tasks for limit in task.conditions)),
        "reading": heard.reading is not None,
    }


def rehearsed(found: Extraction) -> JsonMap:
    """What a message would become, in the shape of S0, with more than one task."""
    return {
        "tasks": [_draft(draft) for draft in found.tasks],
        "clauses": to_json(found.clauses),
        "questions": [_unasked(each, found.clauses) for each in found.questions],
        "answer": to_json(found.answer),
        "alike": [],
        "veto": to_json(found.veto),
        "conditions": to_json(found.conditions),
        "reading": False,
    }


def _clauses(heard: Heard) -> Iterator[Json]:
    for clause in heard.clauses:
        asked = [each for each in heard.unasked if heard.clauses[each.clause] == clause]
        yield _clause(clause, None, asked[0].sentence if asked else None)
    seen: set[tuple[int, int]] = set()
    for task in heard.tasks:
        for n, clause in enumerate(task.request.clauses if task.request else (), 1):
            if (clause.start, clause.end) not in seen:
                seen.add((clause.start, clause.end))
                yield _clause(clause, task, _sentence(heard.reviews, task, n))


def _clause(clause: Clause, task: Task | None, asked: str | None) -> Json:
    return {
        "text": clause.text,
        "start": clause.start,
        "end": clause.end,
        "became": to_json(clause.became),
        "why": clause.why,
        "taskId": task.id if task else None,
        "asked": asked,
    }


def _sentence(reviews: Sequence[Review], task: Task, clause: int) -> str | None:
    mine = (each for each in reviews if each.task_id == task.id)
    asked = [each.question for each in mine if each.key.startswith(f"clause:{clause}:")]
    return " ".join(asked) or None


def _questions(heard: Heard) -> Iterator[Json]:
    for each in heard.unasked:
        yield _unasked(each, heard.clauses)
    tasks = {task.id: task for task in heard.tasks}
    for review in heard.reviews:
        task = tasks[review.task_id]
        gap = gap_of(task, review)
        if gap is None and not review.digest:
            continue
        yield {
            "id": review.id,
            "taskId": review.task_id,
            "about": gap.about if gap else About.CONFIRM.value,
            "question": review.question,
            "options": list[Json](gap.options if gap else review.options),
            "clause": _words(task, gap) if gap else review.evidence,
        }


def gap_of(task: Task, review: Review) -> Gap | None:
    """What a review asks for, if it asks about the request itself."""
    key, _, _ = review.key.rpartition(":")
    return next((gap for gap in task.gaps if gap.key == key), None)


def _words(task: Task, gap: Gap) -> str:
    return task.request.clauses[gap.clause - 1].text if task.request else ""


def _unasked(question: Question, clauses: Sequence[Clause]) -> Json:
    """A question that no task waits for: nobody stored it, so it has no id."""
    return {
        "id": None,
        "taskId": None,
        "about": question.about.value,
        "question": question.sentence,
        "options": list[Json](question.options),
        "clause": clauses[question.clause].text,
    }


def _draft(draft: Draft) -> Json:
    return {
        "title": draft.title,
        "instructions": draft.instructions,
        "type": draft.type.value,
        "scheduled_for": stamp(draft.scheduled_for) if draft.scheduled_for else None,
        "recurrence": to_json(draft.recurrence),
        "work": to_json(draft.work),
        "delivery": [_delivery(each) for each in draft.deliveries],
        "needs_brain": draft.needs_brain,
        "notes": list[Json](draft.notes),
        "clauses": to_json(draft.clauses),
    }


def _delivery(delivery: Delivery) -> Json:
    return {
        "channel": delivery.channel,
        "recipient": delivery.recipient,
        "content": delivery.content,
        "status": delivery.status.value,
    }
