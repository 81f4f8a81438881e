"""Executes a decided intent and writes the answer. Repeating it after a crash changes nothing."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct, field

from remit.converse import meaning, records
from remit.converse.answer import ModelAnswer, QuestionContext, answer, claim_notes
from remit.converse.intent import Intent, IntentKind, choice_of, matching, ref_of
from remit.converse.meaning import QueryKind, StatusQuery, TaskAction
from remit.converse.orders import intent_of_model_order
from remit.converse.scene import (
    AnsweringBrain,
    ConversationScene,
    MessageIntake,
    TaskOperations,
    UnderstoodMessage,
)
from remit.errors import BadInput, Conflict, NotFound
from remit.model.codec import JsonMap
from remit.model.conversation import Action, TaskRef
from remit.model.ids import ReviewId, TaskId
from remit.model.review import Review
from remit.model.status import ACTIVE, TERMINAL, Status
from remit.model.task import Task
from remit.ports import Clock
from remit.store import conversations, reviews, tasks
from remit.store.database import Database, Tx

_MOST: Final = 50
_RECENT: Final = timedelta(days=7)
_TO_SERIES: Final = (TaskAction.PAUSE, TaskAction.RESUME, TaskAction.CANCEL)


class TurnAnswer(Struct, frozen=True):
    """An answer to be stored."""

    text: str
    refs: tuple[TaskRef, ...] = ()
    receipt: JsonMap = field(default_factory=dict)
    asks: JsonMap = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    thinks: bool = False  # a model must answer the rest


class IntentExecutor(Struct, frozen=True):
    """Executes intents. `mind` is None without a model."""

    db: Database
    clock: Clock
    zone: ZoneInfo
    ear: MessageIntake
    hands: TaskOperations
    mind: AnsweringBrain | None = None
    who: str = ""
    owner: str = ""
    is_owner: Callable[[str, str], bool] = lambda _channel, _sender: False

    async def do(self, intent: Intent, scene: ConversationScene) -> TurnAnswer | Intent:
        """Do everything code can do; the rest is marked for a model.

        If a more exact intent is found, it is returned, to be stored and executed.
        """
        task, review = TaskId(intent.task), ReviewId(intent.review)
        does: Mapping[IntentKind, Callable[[], Awaitable[TurnAnswer | Intent]]] = {
            IntentKind.ACT: lambda: self._act(TaskAction(intent.act), task, scene),
            IntentKind.AMEND: lambda: self._amend(task, intent.at),
            IntentKind.FIND_RUN: lambda: self._find_run(intent),
            IntentKind.SKIP: lambda: self._skip(task, intent.at),
            IntentKind.UNDO: lambda: self._undo(intent),
            IntentKind.ANSWER: lambda: self._answer(review, intent.text),
            IntentKind.APPROVE: lambda: self._approve(review),
            IntentKind.LOOK: lambda: self._look(QueryKind(intent.act), intent, scene),
            IntentKind.HEAR: lambda: self._hear(intent, scene),
        }
        if intent.what is IntentKind.ASK:
            return TurnAnswer(intent.text, asks=choice_of(intent, scene), refs=_refs(intent.tasks))
        try:
            return await does[intent.what]()
        except Conflict as conflict:
            return await self._explain_refusal(intent, scene, conflict)
        except BadInput as wrong:
            if intent.what is not IntentKind.UNDO:
                raise
            return await self._explain_refusal(intent, scene, wrong)

    async def _explain_refusal(
        self, intent: Intent, scene: ConversationScene, why: BadInput | Conflict
    ) -> TurnAnswer:
        """Say that an order was not carried out.

        A stored intent may have been carried out by a process that died before it answered: then
        that very deed may be what refuses it, and only how the task stands is sure.
        """
        task = await self.db.read(_task_of, intent)
        name, refs = records.title(task), (TaskRef(task.id, Action.UPDATED),)
        if scene.turn.meant:
            stands = records.state_words(task, self.clock.now(), self.zone)
            return TurnAnswer(f"{name}: {stands}.", refs)
        if intent.what in (IntentKind.ANSWER, IntentKind.APPROVE):
            return TurnAnswer(str(why), refs)
        undo = intent.what is IntentKind.UNDO
        before = "That cannot be undone." if undo else f"{name} was left as it is."
        return TurnAnswer(f"{before} {why}", refs)

    # Acts ---------------------------------------------------------------------------------------

    async def _act(self, act: TaskAction, task_id: TaskId, scene: ConversationScene) -> TurnAnswer:
        before = await self.db.read(tasks.get, task_id)
        name, refs = records.title(before), (TaskRef(task_id, Action.UPDATED),)
        if act is TaskAction.PAUSE and before.status is Status.NEEDS_REVIEW:
            return TurnAnswer(f"{name} waits for your answer; nothing happens before it.", refs)
        is_series = act in _TO_SERIES and before.ended and scene.is_open(before)
        if before.status in _REACHED.get(act, ()) and not is_series:
            late = records.too_late(before, self.clock.now(), self.zone)
            is_stopped = act in (TaskAction.PAUSE, TaskAction.CANCEL)
            ended = f"{name} is {before.status.value.replace('_', ' ')}."
            return TurnAnswer((late if is_stopped else "") or ended, refs)
        does: Mapping[TaskAction, Callable[[TaskId], Awaitable[Task]]] = {
            TaskAction.PAUSE: self.hands.pause,
            TaskAction.RESUME: self.hands.resume,
            TaskAction.CANCEL: self.hands.cancel,
            TaskAction.RUN: partial(self.hands.run_now, ref=ref_of(scene)),
            TaskAction.AGAIN: partial(self.hands.again, ref=f"again:{ref_of(scene)}"),
        }
        after = await does[act](task_id)
        soon = act in (TaskAction.PAUSE, TaskAction.CANCEL) and after.status in ACTIVE
        # For a series a new task runs now; it reports here.
        more = (TaskRef(after.id, Action.CREATED),) if after.id != task_id else ()
        done = {**_DONE, **_ALL_RUNS} if before.series_id else _DONE
        return TurnAnswer((_SOON if soon else done)[act].format(name), (*refs, *more))

    async def _amend(self, task_id: TaskId, at: datetime | None) -> TurnAnswer:
        assert at is not None  # noqa: S101 - what is amended has a time
        before = await self.db.read(tasks.get, task_id)
        name, refs = records.title(before), (TaskRef(task_id, Action.UPDATED),)
        now = self.clock.now()
        was = before.scheduled_for
        if was != at:
            await self.hands.reschedule(task_id, at)
        moment = records.moment(at, now, self.zone)
        instead = f" instead of {records.moment(was, now, self.zone)}" if was and was != at else ""
        return TurnAnswer(f"{name} now runs {moment}{instead}.", refs)

    async def _find_run(self, intent: Intent) -> Intent:
        """Return the one run of a series that the words name, to skip it; else ask."""
        now, fitting, coming = self.clock.now(), [], []
        for task_id in map(TaskId, intent.tasks):
            runs = await self.hands.runs(task_id)
            fit = [slot for slot in runs if self._is_then(slot, intent)]
            fitting += [(task_id, slot) for slot in fit[:1]]
            coming += runs[:3]
        if len(fitting) == 1:
            return Intent(IntentKind.SKIP, task=fitting[0][0], at=fitting[0][1])
        if not fitting:
            shown = ", ".join(records.moment(slot, now, self.zone) for slot in sorted(coming)[:3])
            text = f"Nothing runs then. The next runs are: {shown}." if shown else _NO_RUN
            return Intent(IntentKind.ASK, text=text)
        found = [await self.db.read(tasks.get, task_id) for task_id, _ in fitting]
        lines = [f"{n}. {records.title(task)}" for n, task in enumerate(found, 1)]
        text = "\n".join(["Which one shall I leave out once?", *lines])
        ids = tuple(task.id for task in found)
        return Intent(IntentKind.ASK, act=TaskAction.SKIP.value, tasks=ids, text=text, at=intent.at)

    def _is_then(self, slot: datetime, intent: Intent) -> bool:
        """Whether a run is on the named day, or in the named month."""
        if intent.at is None:
            return True
        day, wanted = slot.astimezone(self.zone).date(), intent.at.astimezone(self.zone).date()
        return day.replace(day=1) == wanted.replace(day=1) if intent.act else day == wanted

    async def _skip(self, task_id: TaskId, slot: datetime | None) -> TurnAnswer:
        assert slot is not None  # noqa: S101 - it was looked up
        task = await self.db.read(tasks.get, task_id)
        name, refs = records.title(task), (TaskRef(task_id, Action.UPDATED),)
        if slot in await self.hands.runs(task_id):
            await self.hands.skip(task_id, slot)
        when = records.moment(slot, self.clock.now(), self.zone)
        return TurnAnswer(
            f'{name} is left out {when}, once. Say "undo" to have it all the same.', refs
        )

    async def _undo(self, intent: Intent) -> TurnAnswer:
        """Undo what was done; `text` names it."""
        if intent.text == IntentKind.APPROVE:
            return await self._recall(ReviewId(intent.review))
        task = await self.db.read(tasks.get, TaskId(intent.task))
        name, refs = records.title(task), (TaskRef(task.id, Action.UPDATED),)
        match intent.text, intent.act:
            case IntentKind.SKIP, _ if intent.at is not None:
                await self.hands.unskip(task.id, intent.at)
            case IntentKind.AMEND, _ if intent.was is not None:
                await self.hands.reschedule(task.id, intent.was)
            case IntentKind.ACT, TaskAction.PAUSE:
                await self.hands.resume(task.id)
            case IntentKind.ACT, TaskAction.RESUME:
                await self.hands.pause(task.id)
            case IntentKind.ACT, TaskAction.CANCEL if task.ended:
                made = await self.hands.restore(task.id, f"undo:{intent.ref}")
                refs = (TaskRef(made.id, Action.CREATED),)
            case _:
                return TurnAnswer(f"{name}: that cannot be undone.", refs)
        return TurnAnswer(f"Undone. {name} is as before.", refs)

    async def _recall(self, review_id: ReviewId) -> TurnAnswer:
        review = await self.db.read(reviews.get, review_id)
        task = await self.hands.recall(review.task_id)
        refs = (TaskRef(task.id, Action.UPDATED),)
        return TurnAnswer(
            f"Called back. {records.title(task)} waits for your approval again.", refs
        )

    async def _answer(self, review_id: ReviewId, text: str) -> TurnAnswer:
        review = await self.db.read(reviews.get, review_id)
        refs = (TaskRef(review.task_id, Action.UPDATED),)
        if review.decision is None:
            await self.hands.answer(review_id, text)
        elif review.decision.text != text:
            return TurnAnswer(f"That question was answered before: {review.decision.text}", refs)
        task, left = await self.db.read(_task_after_answer, review.task_id)
        if left:
            return TurnAnswer("\n".join(left), refs)
        how = records.state_words(task, self.clock.now(), self.zone)
        return TurnAnswer(f"Thank you. {records.title(task)}: {how}.", refs)

    async def _approve(self, review_id: ReviewId) -> TurnAnswer:
        review = await self.db.read(reviews.get, review_id)
        refs = (TaskRef(review.task_id, Action.UPDATED),)
        if review.decision is None:
            await self.hands.approve(review_id)
        task = await self.db.read(tasks.get, review.task_id)
        how = records.state_words(task, self.clock.now(), self.zone)
        return TurnAnswer(f"Approved. {records.title(task)}: {how}.", refs)

    async def _hear(self, intent: Intent, scene: ConversationScene) -> TurnAnswer | Intent:
        turn = scene.turn
        understood = await self.ear.hear(
            intent.text, intent.ref, turn.said_at, scene.context, turn.context
        )
        if understood.order is not None:
            return intent_of_model_order(understood.order, scene, self.ear, self.clock.now())
        question = understood.sort == "question"
        made = dict.fromkeys(
            [task.id for task in understood.tasks] + [r.task_id for r in understood.asked]
        )
        refs = tuple(TaskRef(each, Action.CREATED) for each in made)
        if understood.tasks or understood.unasked or understood.asked:
            text = records.receipt_text(understood)
            return TurnAnswer(text, refs, understood.receipt, thinks=question)
        return self._answer_talk(understood, question=question)

    def _answer_talk(self, understood: UnderstoodMessage, *, question: bool) -> TurnAnswer:
        """Answer words that ask for nothing; a model may answer some of them."""
        if question or understood.sort == "statement":
            return TurnAnswer("" if question else records.TALK["statement"], thinks=True)
        return TurnAnswer(records.TALK.get(understood.sort or "", records.TALK["chatter"]))

    # Records ------------------------------------------------------------------------------------

    async def _look(self, look: QueryKind, intent: Intent, scene: ConversationScene) -> TurnAnswer:
        now = self.clock.now()
        if look is QueryKind.STATUS:
            task = await self.db.read(tasks.get, TaskId(intent.tasks[0]))
            return TurnAnswer(records.status(task, now, self.zone), _refs(intent.tasks))
        if look is QueryKind.DID:
            return await self._did(scene, now)
        head, none, statuses = _LISTS[look]
        found = await self.db.read(conversations.list_tasks_with_status, statuses, _MOST)
        if look is QueryKind.PLANNED:
            found = sorted(
                (t for t in found if t.scheduled_for), key=lambda t: t.scheduled_for or now
            )
        if look is QueryKind.WAITING:
            found = [task for task in found if task.reason or task.gaps]
        if look is QueryKind.FAILED:
            found = [task for task in found if now - (task.completed_at or now) <= _RECENT]
        text = records.list_tasks(head, none, found, now, self.zone)
        return TurnAnswer(text, _refs(task.id for task in found[:3]))

    async def _did(self, scene: ConversationScene, now: datetime) -> TurnAnswer:
        query = meaning.read(scene.turn.content)
        span = records.span(query.when, now, self.zone) if isinstance(query, StatusQuery) else None
        if span is None or not isinstance(query, StatusQuery):
            return TurnAnswer("", thinks=True)
        found = await self.db.read(conversations.ended_between, span.since, span.until, _MOST)
        if query.thing.words:
            found = matching(query.thing.words, found)
        none = f"Nothing is on record for {span.called}."
        text = records.list_tasks(f"On record for {span.called}:", none, found, now, self.zone)
        return TurnAnswer(text, _refs(task.id for task in found[:3]))

    # A model ------------------------------------------------------------------------------------

    async def think(self, code_answer: TurnAnswer, scene: ConversationScene) -> TurnAnswer:
        """Let the model answer; its claims are checked against the records."""
        now = self.clock.now()
        if self.mind is None:
            return _join_answers(
                code_answer, TurnAnswer((code_answer.text or _NO_MIND) + scene.still_open)
            )
        about = scene.last or scene.spoken[:1]
        asked = QuestionContext(scene.turn, scene.before, scene.spoken, now, self.zone, self.who)
        model_answer = await answer(self.mind, asked)
        if model_answer.failed:
            return _join_answers(
                code_answer, TurnAnswer(f"That cannot be answered now. {model_answer.failed}")
            )
        known = await self.db.read(_mentionable_tasks, model_answer, scene)
        notes = claim_notes(model_answer.text, about, known, self.zone, self.owner)
        read = [task.id for task in known if task.id in model_answer.read]
        refs = _refs(dict.fromkeys([*read, *(task.id for task in about[:1])]))
        text = f"{model_answer.text}{scene.still_open}"
        return _join_answers(code_answer, TurnAnswer(text, refs, notes=notes))


def _join_answers(first: TurnAnswer, second: TurnAnswer) -> TurnAnswer:
    """Join what code said and what the model said."""
    text = second.text if second.text.startswith(first.text) else f"{first.text}\n\n{second.text}"
    seen = {ref.task_id for ref in first.refs}
    more = tuple(ref for ref in second.refs if ref.task_id not in seen)
    return TurnAnswer(text, (*first.refs, *more), first.receipt, first.asks, second.notes)


def _refs(ids: Iterable[str]) -> tuple[TaskRef, ...]:
    return tuple(TaskRef(TaskId(each), Action.DISCUSSED) for each in ids)


def _task_of(tx: Tx, intent: Intent) -> Task:
    found = intent.task or reviews.get(tx, ReviewId(intent.review)).task_id
    return tasks.get(tx, TaskId(found))


def _task_after_answer(tx: Tx, task_id: TaskId) -> tuple[Task, list[str]]:
    """Return a task after an answer, and its open questions."""
    open_ = [each for each in reviews.of_task(tx, task_id) if each.decision is None]
    return tasks.get(tx, task_id), [line for each in open_ for line in _review_words(each)]


def _review_words(review: Review) -> tuple[str, ...]:
    """Return a question in words; for a card about the request, also the card."""
    card = review.evidence if review.resume_to is Status.NEW else ""
    return (card, review.question) if card else (review.question,)


def _mentionable_tasks(tx: Tx, model_answer: ModelAnswer, scene: ConversationScene) -> list[Task]:
    """Return the tasks an answer may mention: those it read, of the conversation, the newest."""
    found = {task.id: task for task in (*scene.spoken, *scene.others)}
    for ident in model_answer.read:
        try:
            found[ident] = tasks.get(tx, ident)
        except NotFound:
            continue  # named, but it does not exist
    return list(found.values())


_DONE: Final[Mapping[TaskAction, str]] = {
    TaskAction.PAUSE: "{} is paused.",
    TaskAction.RESUME: "{} goes on.",
    TaskAction.CANCEL: "{} is cancelled.",
    TaskAction.RUN: "{} starts now.",
    TaskAction.AGAIN: "{} is done once more.",
}
_ALL_RUNS: Final[Mapping[TaskAction, str]] = {
    TaskAction.PAUSE: "{} is paused: none of its runs starts until you say to go on.",
    TaskAction.CANCEL: "{} is cancelled: it does not come back any more.",
}
_SOON: Final[Mapping[TaskAction, str]] = {
    TaskAction.PAUSE: "{} pauses after the step it is at.",
    TaskAction.CANCEL: "{} ends after the step it is at. What is sent already stays sent.",
}
_REACHED: Final[Mapping[TaskAction, frozenset[Status]]] = {
    TaskAction.PAUSE: TERMINAL | {Status.PAUSED},
    TaskAction.RESUME: TERMINAL | ACTIVE,
    TaskAction.CANCEL: TERMINAL,
    TaskAction.RUN: TERMINAL,
}
_LISTS: Final[Mapping[QueryKind, tuple[str, str, tuple[Status, ...]]]] = {
    QueryKind.RUNNING: ("At work:", "Nothing is running.", tuple(ACTIVE)),
    QueryKind.PLANNED: ("Planned:", "Nothing is planned.", (Status.NEW, Status.READY)),
    QueryKind.WAITING: (
        "These wait for you:",
        "Nothing waits for you.",
        (Status.NEW, Status.NEEDS_REVIEW),
    ),
    QueryKind.FAILED: (
        "Failed in the last week:",
        "Nothing failed in the last week.",
        (Status.FAILED,),
    ),
}
_NO_RUN: Final = "It has no run to come."
_NO_MIND: Final = (
    "To answer that, a language model is needed, and none is set up. From the records alone I can"
    " say what is running, planned, failed or waiting for you, and what I did when. And I can do"
    ' what needs no thinking, such as "Remind me at 9 to call mom".'
)
