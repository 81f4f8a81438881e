"""What was meant is done, and put into words. To do it again after a cut changes nothing."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct, field

from remit.converse import meaning, promise, receipt, records, which
from remit.converse.answer import Answered, Asked, answer
from remit.converse.intent import Meant, What
from remit.converse.meaning import Act, Look, Query
from remit.converse.orders import ordered
from remit.converse.plugs import Ear, Hands, Mind, Understood
from remit.converse.scene import Scene
from remit.errors import BadInput, Conflict, NotFound
from remit.model.codec import Json, JsonMap, stamp
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


class Told(Struct, frozen=True):
    """An answer to be."""

    text: str
    refs: tuple[TaskRef, ...] = ()
    receipt: JsonMap = field(default_factory=dict)
    asks: JsonMap = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    thinks: bool = False  # a model is to answer what is left


class Doer(Struct, frozen=True):
    """`mind` is None where there is no model."""

    db: Database
    clock: Clock
    zone: ZoneInfo
    ear: Ear
    hands: Hands
    mind: Mind | None = None
    who: str = ""
    owner: str = ""
    is_owner: Callable[[str, str], bool] = lambda _channel, _sender: False

    async def do(self, meant: Meant, scene: Scene) -> Told | Meant:
        """Do all that code can do; what is left for a model is marked.

        What turns out to mean something more exact is returned, to be written down and done.
        """
        task, review = TaskId(meant.task), ReviewId(meant.review)
        does: Mapping[What, Callable[[], Awaitable[Told | Meant]]] = {
            What.ACT: lambda: self._act(Act(meant.act), task),
            What.AMEND: lambda: self._amend(task, meant.at),
            What.FIND_RUN: lambda: self._find_run(meant),
            What.SKIP: lambda: self._skip(task, meant.at),
            What.UNDO: lambda: self._undo(meant),
            What.ANSWER: lambda: self._answer(review, meant.text),
            What.APPROVE: lambda: self._approve(review),
            What.LOOK: lambda: self._look(Look(meant.act), meant, scene),
            What.HEAR: lambda: self._hear(meant, scene),
        }
        if meant.what is What.ASK:
            return Told(meant.text, asks=_asks(meant, scene), refs=_refs(meant.tasks))
        return await does[meant.what]()

    # Acts ---------------------------------------------------------------------------------------

    async def _act(self, act: Act, task_id: TaskId) -> Told:
        before = await self.db.read(tasks.get, task_id)
        name, refs = records.title(before), (TaskRef(task_id, Action.UPDATED),)
        if before.status in _REACHED[act]:
            return Told(f"{name} is {before.status.value.replace('_', ' ')}.", refs)
        does = {
            Act.PAUSE: self.hands.pause,
            Act.RESUME: self.hands.resume,
            Act.CANCEL: self.hands.cancel,
            Act.RUN: self.hands.run_now,
        }
        try:
            after = await does[act](task_id)
        except Conflict as no:
            return Told(f"{name} was left as it is. {no}", refs)
        soon = act in (Act.PAUSE, Act.CANCEL) and after.status in ACTIVE
        # Of a series another task is run now; it reports here.
        more = (TaskRef(after.id, Action.CREATED),) if after.id != task_id else ()
        done = _ALL_RUNS if before.series_id else _DONE
        told = _SOON[act] if soon else done.get(act, _DONE[act])
        return Told(told.format(name), (*refs, *more))

    async def _amend(self, task_id: TaskId, at: datetime | None) -> Told:
        assert at is not None  # noqa: S101 - what is amended has a time
        before = await self.db.read(tasks.get, task_id)
        name, refs = records.title(before), (TaskRef(task_id, Action.UPDATED),)
        now = self.clock.now()
        was = before.scheduled_for
        if was != at:
            try:
                await self.hands.reschedule(task_id, at)
            except Conflict as no:
                return Told(f"{name} was left as it is. {no}", refs)
        told = records.moment(at, now, self.zone)
        instead = f" instead of {records.moment(was, now, self.zone)}" if was and was != at else ""
        return Told(f"{name} now runs {told}{instead}.", refs)

    async def _find_run(self, meant: Meant) -> Meant:
        """The one run of a series that the words name, to be left out; else the owner is asked."""
        now, fitting, coming = self.clock.now(), [], []
        for task_id in map(TaskId, meant.tasks):
            runs = await self.hands.runs(task_id)
            fit = [slot for slot in runs if self._is_then(slot, meant)]
            fitting += [(task_id, slot) for slot in fit[:1]]
            coming += runs[:3]
        if len(fitting) == 1:
            return Meant(What.SKIP, task=fitting[0][0], at=fitting[0][1])
        if not fitting:
            shown = ", ".join(records.moment(slot, now, self.zone) for slot in sorted(coming)[:3])
            text = f"Nothing comes back then. The next runs are: {shown}." if shown else _NO_RUN
            return Meant(What.ASK, text=text)
        found = [await self.db.read(tasks.get, task_id) for task_id, _ in fitting]
        lines = [f"{n}. {records.title(task)}" for n, task in enumerate(found, 1)]
        text = "\n".join(["Which one shall I leave out once?", *lines])
        ids = tuple(task.id for task in found)
        return Meant(What.ASK, act=Act.SKIP.value, tasks=ids, text=text, at=meant.at)

    def _is_then(self, slot: datetime, meant: Meant) -> bool:
        """Whether a run is on the day, or in the month, that was named."""
        if meant.at is None:
            return True
        day, wanted = slot.astimezone(self.zone).date(), meant.at.astimezone(self.zone).date()
        return day.replace(day=1) == wanted.replace(day=1) if meant.act else day == wanted

    async def _skip(self, task_id: TaskId, slot: datetime | None) -> Told:
        assert slot is not None  # noqa: S101 - it was looked up
        task = await self.db.read(tasks.get, task_id)
        name, refs = records.title(task), (TaskRef(task_id, Action.UPDATED),)
        if slot in await self.hands.runs(task_id):
            try:
                await self.hands.skip(task_id, slot)
            except Conflict as no:
                return Told(f"{name} was left as it is. {no}", refs)
        when = records.moment(slot, self.clock.now(), self.zone)
        return Told(f'{name} is left out {when}, once. Say "undo" to have it all the same.', refs)

    async def _undo(self, meant: Meant) -> Told:
        """Take back what was done; `text` says what that was."""
        ref, refs = f"undo:{meant.ref}", (TaskRef(TaskId(meant.task), Action.UPDATED),)
        try:
            if meant.text == What.APPROVE:
                return await self._recall(ReviewId(meant.review))
            task = await self.db.read(tasks.get, TaskId(meant.task))
            name, done = records.title(task), "as before"
            match meant.text, meant.act:
                case What.SKIP, _ if meant.at is not None:
                    await self.hands.unskip(task.id, meant.at, ref)
                case What.AMEND, _ if meant.was is not None:
                    await self.hands.reschedule(task.id, meant.was)
                case What.ACT, Act.PAUSE:
                    await self.hands.resume(task.id)
                case What.ACT, Act.RESUME:
                    await self.hands.pause(task.id)
                case What.ACT, Act.CANCEL if task.ended:
                    made = await self.hands.restore(task.id, ref)
                    refs = (TaskRef(made.id, Action.CREATED),)
                case _:
                    return Told(f"{name}: that cannot be undone.", refs)
        except (BadInput, Conflict) as no:
            return Told(f"That cannot be undone. {no}", refs)
        return Told(f"Undone. {name} is {done}.", refs)

    async def _recall(self, review_id: ReviewId) -> Told:
        review = await self.db.read(reviews.get, review_id)
        task = await self.hands.recall(review.task_id)
        refs = (TaskRef(task.id, Action.UPDATED),)
        return Told(f"Called back. {records.title(task)} waits for your approval again.", refs)

    async def _answer(self, review_id: ReviewId, text: str) -> Told:
        review = await self.db.read(reviews.get, review_id)
        refs = (TaskRef(review.task_id, Action.UPDATED),)
        if review.decision is None:
            try:
                await self.hands.answer(review_id, text)
            except Conflict as no:
                return Told(str(no), refs)
        elif review.decision.text != text:
            return Told(f"That question was answered before: {review.decision.text}", refs)
        task, left = await self.db.read(_after, review.task_id)
        if left:
            return Told("\n".join(left), refs)
        now = self.clock.now()
        how = records.stands(task, now, self.zone)
        return Told(f"Thank you. {records.title(task)}: {how}.", refs)

    async def _approve(self, review_id: ReviewId) -> Told:
        review = await self.db.read(reviews.get, review_id)
        refs = (TaskRef(review.task_id, Action.UPDATED),)
        if review.decision is None:
            try:
                await self.hands.approve(review_id)
            except Conflict as no:
                return Told(str(no), refs)
        task = await self.db.read(tasks.get, review.task_id)
        how = records.stands(task, self.clock.now(), self.zone)
        return Told(f"Approved. {records.title(task)}: {how}.", refs)

    async def _hear(self, meant: Meant, scene: Scene) -> Told | Meant:
        heard = await self.ear.hear(meant.text, meant.ref, scene.turn.said_at, scene.context)
        if heard.order is not None:
            return ordered(heard.order, scene, self.ear, self.clock.now())
        question = heard.sort == "question"
        made = dict.fromkeys([task.id for task in heard.tasks] + [r.task_id for r in heard.asked])
        refs = tuple(TaskRef(each, Action.CREATED) for each in made)
        if heard.tasks or heard.unasked or heard.asked:
            text = receipt.sentences(heard)
            return Told(text, refs, heard.receipt, thinks=question)
        return self._talked(heard, question=question)

    def _talked(self, heard: Understood, *, question: bool) -> Told:
        """Words that ask for nothing: a model may have something to say to some of them."""
        if question or heard.sort == "statement":
            return Told("" if question else receipt.TALK["statement"], thinks=True)
        return Told(receipt.TALK.get(heard.sort or "", receipt.TALK["chatter"]))

    # Records ------------------------------------------------------------------------------------

    async def _look(self, look: Look, meant: Meant, scene: Scene) -> Told:
        now = self.clock.now()
        if look is Look.STATUS:
            task = await self.db.read(tasks.get, TaskId(meant.tasks[0]))
            return Told(records.status(task, now, self.zone), _refs(meant.tasks))
        if look is Look.DID:
            return await self._did(scene, now)
        head, none, statuses = _LISTS[look]
        found = await self.db.read(conversations.standing, statuses, _MOST)
        if look is Look.PLANNED:
            found = sorted((t for t in found if t.scheduled_for), key=_planned)
        if look is Look.WAITING:
            found = [task for task in found if task.reason or task.gaps]
        if look is Look.FAILED:
            found = [task for task in found if now - (task.completed_at or now) <= _RECENT]
        text = records.listed(head, none, found, now, self.zone)
        return Told(text, _refs(task.id for task in found[:3]))

    async def _did(self, scene: Scene, now: datetime) -> Told:
        query = meaning.read(scene.turn.content)
        span = records.span(query.when, now, self.zone) if isinstance(query, Query) else None
        if span is None or not isinstance(query, Query):
            return Told("", thinks=True)
        found = await self.db.read(conversations.ended_between, span.since, span.until, _MOST)
        if query.thing.words:
            found = which.matching(query.thing.words, found)
        none = f"Nothing is on record for {span.called}."
        text = records.listed(f"On record for {span.called}:", none, found, now, self.zone)
        return Told(text, _refs(task.id for task in found[:3]))

    # A model ------------------------------------------------------------------------------------

    async def think(self, told: Told, scene: Scene) -> Told:
        """Have the question answered; what the answer claims is held against the records."""
        now = self.clock.now()
        if self.mind is None:
            return _joined(told, Told(told.text or _NO_MIND))
        about = scene.last or scene.spoken[:1]
        asked = Asked(scene.turn, scene.before, scene.spoken, now, self.zone, self.who)
        said = await answer(self.mind, asked)
        if said.failed:
            return _joined(told, Told(f"That cannot be answered now. {said.failed}"))
        known = await self.db.read(_known, said, scene)
        notes = promise.notes(said.text, about, known, self.zone, self.owner)
        read = [task.id for task in known if task.id in said.read]
        refs = _refs(dict.fromkeys([*read, *(task.id for task in about[:1])]))
        return _joined(told, Told(said.text, refs, notes=notes))


def _joined(told: Told, said: Told) -> Told:
    """One answer out of what code said and what the model said."""
    text = said.text if told.text in ("", said.text) else f"{told.text}\n\n{said.text}"
    seen = {ref.task_id for ref in told.refs}
    more = tuple(ref for ref in said.refs if ref.task_id not in seen)
    return Told(text, (*told.refs, *more), told.receipt, told.asks, said.notes)


def _refs(ids: Iterable[str]) -> tuple[TaskRef, ...]:
    return tuple(TaskRef(TaskId(each), Action.DISCUSSED) for each in ids)


def _asks(meant: Meant, scene: Scene) -> JsonMap:
    """What the next words may settle; nothing where there is nothing to choose."""
    if not meant.tasks and not meant.review:
        return {}
    named: list[Json] = list(meant.tasks)
    return {
        "act": meant.act,
        "tasks": named,
        "review": meant.review,
        "new": meant.new,
        "text": scene.turn.content,
        "ref": meant.ref,
        "words": list[Json](meant.words),
        "at": stamp(meant.at) if meant.at else None,
    }


def _after(tx: Tx, task_id: TaskId) -> tuple[Task, list[str]]:
    """A task after an answer, and what it asks now."""
    open_ = [each for each in reviews.of_task(tx, task_id) if each.decision is None]
    return tasks.get(tx, task_id), [line for each in open_ for line in _shown(each)]


def _shown(review: Review) -> tuple[str, ...]:
    """A question in words; of a card about the request, what it shows as well."""
    card = review.evidence if review.resume_to is Status.NEW else ""
    return (card, review.question) if card else (review.question,)


def _known(tx: Tx, said: Answered, scene: Scene) -> list[Task]:
    """The tasks that an answer may speak of: those it read, those of the talk, the newest."""
    found = {task.id: task for task in (*scene.spoken, *scene.others)}
    for ident in said.read:
        try:
            found[ident] = tasks.get(tx, ident)
        except NotFound:
            continue  # it was named, and is not there
    return list(found.values())


def _planned(task: Task) -> datetime:
    assert task.scheduled_for is not None  # noqa: S101 - chosen for having one
    return task.scheduled_for


_DONE: Final[Mapping[Act, str]] = {
    Act.PAUSE: "{} is paused.",
    Act.RESUME: "{} goes on.",
    Act.CANCEL: "{} is cancelled.",
    Act.RUN: "{} starts now.",
}
_ALL_RUNS: Final[Mapping[Act, str]] = {
    Act.PAUSE: "{} is paused: none of its runs starts until you say to go on.",
    Act.RESUME: "{} goes on.",
    Act.CANCEL: "{} is cancelled: it does not come back any more.",
}
_SOON: Final[Mapping[Act, str]] = {
    Act.PAUSE: "{} pauses after the step it is at.",
    Act.CANCEL: "{} ends after the step it is at. What is sent already stays sent.",
}
_REACHED: Final[Mapping[Act, frozenset[Status]]] = {
    Act.PAUSE: TERMINAL | {Status.PAUSED},
    Act.RESUME: TERMINAL | ACTIVE,
    Act.CANCEL: TERMINAL,
    Act.RUN: TERMINAL,
}
_LISTS: Final[Mapping[Look, tuple[str, str, tuple[Status, ...]]]] = {
    Look.RUNNING: ("At work:", "Nothing is running.", tuple(ACTIVE)),
    Look.PLANNED: ("Planned:", "Nothing is planned.", (Status.NEW, Status.READY)),
    Look.WAITING: (
        "These wait for you:",
        "Nothing waits for you.",
        (Status.NEW, Status.NEEDS_REVIEW),
    ),
    Look.FAILED: ("Failed in the last week:", "Nothing failed in the last week.", (Status.FAILED,)),
}
_NO_RUN: Final = "No run of it is to come."
_NO_MIND: Final = (
    "To answer that, a language model is needed, and none is set up. From the records alone I can"
    " say what is running, planned, failed or waiting for you, and what I did when. And I can do"
    ' what needs no thinking, such as "Remind me at 9 to call mom".'
)
