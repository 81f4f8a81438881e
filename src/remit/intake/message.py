"""A message, what it became, and the JSON of that as it is published."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import cast

from msgspec import Struct, field

from remit.intake.card import OpenLine, RequestCard, card_lines, gap_question, open_lines
from remit.intake.extraction import Draft, Extraction, Question, QuestionTopic
from remit.language.order_words import SmallTalk
from remit.language.sentences import message_language
from remit.model.codec import Json, JsonMap, from_json, stamp, to_json
from remit.model.contract import Clause
from remit.model.conversation import TalkContext, TurnOrder
from remit.model.delivery import Delivery
from remit.model.ids import TaskId
from remit.model.recurrence import Repeats
from remit.model.review import Review
from remit.model.status import Reason
from remit.model.task import Priority, Source, Taint, Task, TaskType
from remit.model.veto import Condition
from remit.model.view import JsonView, show


class OwnerMessage(Struct, frozen=True, kw_only=True):
    """The owner's message, and what was given besides the words."""

    text: str
    source: Source
    scheduled_for: datetime | None = None
    priority: Priority | None = None
    repeats: Repeats | None = None
    context: JsonMap = field(default_factory=dict)  # what is known of it besides
    home: str | None = None  # the channel by which the owner is answered; else the book's
    taint: Taint = Taint.OWNER  # less trusted, if words of others came with it
    said_at: datetime | None = None  # if that may be long ago
    talk: TalkContext | None = None  # what it may be about, if it is a turn of a conversation
    conditions: tuple[Condition, ...] = ()  # limits given besides the words


class MessageResult(Struct, frozen=True):
    """What a message became. Without tasks, `clauses` and `unasked` are the message's own."""

    tasks: tuple[Task, ...]
    reviews: tuple[Review, ...] = ()
    answer: SmallTalk | None = None
    clauses: tuple[Clause, ...] = ()
    unasked: tuple[Question, ...] = ()
    alike: tuple[str, ...] = ()  # a sentence for each task that looks like another
    order: TurnOrder | None = None  # it is about a task that is there, or an open question
    card: RequestCard | None = None  # the receipt, if there is a task
    wish: bool = False  # it is a standing wish: a rule is proposed, and nothing is to be done

    @property
    def reading(self) -> TaskId | None:
        """Return the task that waits for the message to be read; None once it is read."""
        return next((task.id for task in self.tasks if task.pending_reading is not None), None)


def reading_record(found: Extraction) -> Json:
    """Return what is recorded of a message that a model read."""
    return {
        "tasks": len(found.tasks),
        "answer": to_json(found.answer),
        "clauses": to_json(found.clauses),
        "questions": to_json(found.questions),
    }


def heard_nothing(record: Json) -> MessageResult | None:
    """Return a recorded message that asked for nothing; None for any other."""
    if not isinstance(record, dict) or record.get("tasks") != 0:
        return None
    answer = record["answer"]
    return MessageResult(
        (),
        answer=None if answer is None else SmallTalk(str(answer)),
        clauses=tuple(from_json(Clause, each) for each in cast("list[Json]", record["clauses"])),
        unasked=tuple(from_json(Question, e) for e in cast("list[Json]", record["questions"])),
    )


def message_result_to_json(result: MessageResult, view: JsonView = JsonView.S3) -> JsonMap:
    """Return all of it, as published: tasks, clauses, questions, and the kind of talk."""
    return {
        "tasks": [show(task, view) for task in result.tasks],
        "clauses": list(_clauses(result)),
        "questions": list(_questions(result)),
        "answer": "wish" if result.wish else to_json(result.answer),
        "alike": list[Json](result.alike),
        "veto": to_json(tuple(dict.fromkeys(cue for task in result.tasks for cue in task.veto))),
        "conditions": to_json(tuple(limit for task in result.tasks for limit in task.conditions)),
        "reading": result.reading is not None,
        "card": _card(result.card) if result.card else None,
    }


def reading_to_json(found: Extraction) -> JsonMap:
    """Return what a message would become, in the form S0, possibly with several tasks."""
    return {
        "tasks": [_draft(draft) for draft in found.tasks],
        "clauses": to_json(found.clauses),
        "questions": [_question_to_json(each, found.clauses) for each in found.questions],
        "answer": to_json(found.answer),
        "alike": [],
        "veto": to_json(found.veto),
        "conditions": to_json(found.conditions),
        "reading": False,
        "card": None,
    }


def _card(card: RequestCard) -> JsonMap:
    return {
        "language": card.language,
        "held": card.held,
        "tasks": to_json(card.tasks),
        "text": "\n".join(card_lines(card, asks=False)),
    }


def _clauses(result: MessageResult) -> Iterator[Json]:
    for clause in result.clauses:
        asked = [each for each in result.unasked if result.clauses[each.clause] == clause]
        yield _clause(clause, None, asked[0].sentence if asked else None)
    seen: set[tuple[int, int]] = set()
    for task in result.tasks:
        for n, clause in enumerate(task.request.clauses if task.request else (), 1):
            if (clause.start, clause.end) not in seen:
                seen.add((clause.start, clause.end))
                yield _clause(clause, task, _sentence(task, n))


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


def _sentence(task: Task, clause: int) -> str | None:
    language = message_language(task.request.text if task.request else "")
    open_ = [gap_question(task, gap, language) for gap in task.gaps if gap.clause == clause]
    return " ".join(open_) or None


def _questions(result: MessageResult) -> Iterator[Json]:
    """Return one entry per card; `lines` holds each open line on it."""
    for each in result.unasked:
        yield _question_to_json(each, result.clauses)
    tasks = {task.id: task for task in result.tasks}
    for review in result.reviews:
        lines = open_lines([tasks[each] for each in _on_card(review) if each in tasks])
        if not lines and not review.digest:
            continue
        first = lines[0] if lines else None
        yield {
            "id": review.id,
            "taskId": review.task_id,
            "about": first.about if first else QuestionTopic.CONFIRM.value,
            "question": review.question,
            "options": list[Json](_options(review, lines)),
            "clause": first.clause if first else review.evidence,
            "lines": [_line(each) for each in lines],
        }


def _on_card(review: Review) -> tuple[TaskId, ...]:
    return review.card_tasks or (review.task_id,)


def _options(review: Review, lines: Sequence[OpenLine]) -> Sequence[str]:
    approves = review.reason is Reason.APPROVAL
    return review.options if approves or len(lines) != 1 else lines[0].options


def _line(line: OpenLine) -> Json:
    return {
        "number": line.number,
        "taskId": line.task_id,
        "about": line.about,
        "question": line.question,
        "options": list[Json](line.options),
        "clause": line.clause,
    }


def _question_to_json(question: Question, clauses: Sequence[Clause]) -> Json:
    """Return a question that no task waits for; it is not stored, so it has no id."""
    return {
        "id": None,
        "taskId": None,
        "about": question.about.value,
        "question": question.sentence,
        "options": list[Json](question.options),
        "clause": clauses[question.clause].text,
        "lines": [],
    }


def _draft(draft: Draft) -> Json:
    return {
        "title": draft.title,
        "instructions": draft.instructions,
        "type": (TaskType.SCHEDULED if draft.scheduled else TaskType.IMMEDIATE).value,
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
