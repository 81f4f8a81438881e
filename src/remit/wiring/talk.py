"""Wires conversations to intake, the owner's operations and a brain."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.brain import outside
from remit.brain.choose import ModelRole
from remit.brain.models import ModelBrain, PaidBrain
from remit.brain.task_tools import read_task_log, search_tasks
from remit.brain.think import NoBrain
from remit.brain.tools import OwnTool
from remit.converse import ConversationLoop
from remit.converse.execute import IntentExecutor
from remit.converse.notice_follower import NoticeDecisions, NoticeFollower
from remit.converse.scene import AnsweringBrain, UnclearTime, UnderstoodMessage
from remit.errors import BadInput, Conflict
from remit.intake import answers
from remit.intake.card import card_lines
from remit.intake.extraction import Extraction
from remit.intake.message import MessageResult, OwnerMessage, message_result_to_json
from remit.intake.plain_reader import read_plainly
from remit.language import order_words
from remit.language.order_words import SmallTalk
from remit.language.time.clock_time import NOON
from remit.language.time.resolve import Moment, TimeDoubt
from remit.model import rrule
from remit.model.codec import JsonMap
from remit.model.conversation import TalkContext
from remit.model.ids import ReviewId, SeriesId, SessionId, TaskId
from remit.model.permit import Reach, is_same_address
from remit.model.recurrence import Repeats, Series, SlotFate
from remit.model.reply import Policy, Prompt, Reply, Tool, ToolCall, ToolResult
from remit.model.review import Decision, Review, ReviewAnswer
from remit.model.status import Status
from remit.model.task import Creator, Edit, Source, SourceKind, Task, TaskType
from remit.model.task_file import ATTACHMENTS
from remit.ports import Brain
from remit.store import messages, series, series_orders, tasks
from remit.store.database import Tx
from remit.triggers import cue_admission
from remit.wiring.app_context import AppContext
from remit.wiring.foundation import Foundation

_BY: Final = "owner: in a conversation"
_MOST_RUNS: Final = 60  # runs of a series searched for a named one


class ConversationIntake(Struct, frozen=True):
    """Intake, as conversations need it."""

    base: Foundation

    @property
    def reads_by_model(self) -> bool:
        return self.base.is_slow()

    async def hear(
        self, text: str, ref: str, said_at: datetime, talk: TalkContext, context: JsonMap
    ) -> UnderstoodMessage:
        source = Source(SourceKind.CONVERSATION, ref)
        by_mail = "threads" in context  # what is ordered by mail is answered in its thread
        home = talk.channel if by_mail or self._answers_on(talk.channel) else None
        message = OwnerMessage(
            text=text, source=source, said_at=said_at, talk=talk, home=home, context=context
        )
        found = await self.base.intake.hear(message)
        if ATTACHMENTS in context and not (found.tasks or found.reviews or found.unasked):
            # A question about a file, or an order with one: whoever does it reads the file.
            made = cue_admission.cue(text, ref=ref, channel=home or "dashboard")
            made = replace(made, source=source, context=context, said_at=said_at)
            found = MessageResult((await self.base.intake.admit(made),))
        return UnderstoodMessage(
            tasks=found.tasks,
            asked=found.reviews,
            sort=found.answer.value if found.answer else None,
            unasked=(*(each.sentence for each in found.unasked), *found.alike),
            receipt=message_result_to_json(found)
            if found.tasks or found.unasked or found.wish
            else {},
            order=found.order,
            card=tuple(card_lines(found.card, asks=False)) if found.card else (),
        )

    def _answers_on(self, channel: str) -> bool:
        """Whether results go back to the chat that the owner wrote in."""
        section = self.base.settings.channels.get(channel)
        if section is None or not section.answers_here:
            return False
        reach = self.base.contacts.find(None, channel)
        return isinstance(reach, Reach) and reach.address is not None

    def is_talk(self, text: str) -> bool:
        found = self._plain(text)
        return not found.tasks and found.answer in (
            SmallTalk.THANKS,
            SmallTalk.GREETING,
            SmallTalk.CHATTER,
            SmallTalk.QUESTION,
        )

    def asks_for_work(self, text: str) -> bool:
        return order_words.asks_for_work(text)

    def is_request(self, text: str) -> bool:
        found = self._plain(text)
        return bool(found.tasks) and not all(draft.is_loose for draft in found.tasks)

    def is_loose_work(self, text: str) -> bool:
        found = self._plain(text)
        return bool(found.tasks) and all(draft.is_loose for draft in found.tasks)

    def _plain(self, text: str) -> Extraction:
        try:
            book = self.base.contacts.book()
        except BadInput:
            book = self.base.contacts.bare()
        now, zone = self.base.clock.now(), self.base.zone
        return read_plainly(text, now=now, zone=zone, book=book)

    def fits(self, task: Task, review: Review, text: str) -> bool | None:
        if not task.gaps or review.task_id != task.id or review.resume_to is not Status.NEW:
            return None
        try:
            settled = self.base.ear.settling()((task,), review, text, self.base.clock.now())
        except BadInput:
            return False
        return settled.understood

    def when(
        self, task: Task, words: str, earlier: Sequence[str] = ()
    ) -> datetime | UnclearTime | None:
        """Apply words to the task's own time: "Thursday" keeps its hour, "5pm" its day."""
        now, zone = self.base.clock.now(), self.base.zone
        local = (task.scheduled_for or now).astimezone(zone)
        base = f"on {local:%Y-%m-%d} at {local:%H:%M}" if task.scheduled_for else ""
        # "Make that 8", of what runs at seven in the evening: eight in the morning is not meant.
        late = [f"{base} in the afternoon"] if base and local.hour >= NOON else []
        bases = (base, *late)
        read = (answers.when(words, each, now=now, zone=zone, earlier=earlier) for each in bases)
        found = [times[0] for times in read if times and len(times) == 1]
        at = next((each.at for each in found if isinstance(each, Moment)), None)
        doubt = next((each for each in found if isinstance(each, TimeDoubt)), None)
        return at or (UnclearTime(doubt.why) if doubt else None)


class OwnerOperations(Struct, frozen=True):
    """The owner's operations, for conversations."""

    base: Foundation

    async def pause(self, task_id: TaskId) -> Task:
        return await self._to_all(task_id, self.base.owner.pause, self.base.owner.pause_series)

    async def resume(self, task_id: TaskId) -> Task:
        return await self._to_all(task_id, self.base.owner.resume, self.base.owner.resume_series)

    async def cancel(self, task_id: TaskId) -> Task:
        return await self._to_all(task_id, self.base.owner.cancel, self.base.owner.end_series)

    async def _to_all(
        self,
        task_id: TaskId,
        one: Callable[[TaskId], Awaitable[Task]],
        every: Callable[[SeriesId], Awaitable[Series]],
    ) -> Task:
        """Apply an operation to a task, or to its whole series if it repeats."""
        task = await self._get(task_id)
        if task.series_id is None:
            return await one(task_id)
        await every(task.series_id)
        return await self._get(task_id)

    async def _get(self, task_id: TaskId) -> Task:
        return await self.base.db.read(tasks.get, task_id)

    async def run_now(self, task_id: TaskId, ref: str) -> Task:
        return await self.base.owner.run_now(task_id, ref=ref)

    async def reschedule(self, task_id: TaskId, at: datetime) -> Task:
        task, now = await self._get(task_id), self.base.clock.now()
        if task.series_id is not None:
            return await self.base.owner.move_slot(task.series_id, None, at)
        return await self.base.db.write(messages.edit, task_id, Edit(scheduled_for=at), now)

    async def runs(self, task_id: TaskId) -> list[datetime]:
        task, now = await self._get(task_id), self.base.clock.now()
        return await self.base.db.read(_runs, task.series_id, now) if task.series_id else []

    async def skip(self, task_id: TaskId, slot: datetime) -> None:
        task = await self._get(task_id)
        if task.series_id is not None:
            await self.base.owner.skip_slot(task.series_id, slot)

    async def unskip(self, task_id: TaskId, slot: datetime) -> None:
        task = await self._get(task_id)
        assert task.series_id is not None  # noqa: S101 - it had a run to leave out
        await self.base.owner.unskip_slot(task.series_id, slot)

    async def again(self, task_id: TaskId, ref: str) -> Task:
        task = await self._get(task_id)
        if task.series_id is not None:
            return await self.base.owner.run_now(task_id, ref=ref)
        return await self.base.intake.admit(await self.base.owner.retry(task_id, ref))

    async def restore(self, task_id: TaskId, ref: str) -> Task:
        task, now = await self._get(task_id), self.base.clock.now()
        if task.gaps:
            raise Conflict("A question about it was still open; say it once more instead.")
        cue = await self.base.owner.retry(task_id, ref)
        if task.series_id is not None:
            repeats = await self.base.db.read(_from_now_on, task.series_id, now)
            cue = replace(cue, repeats=repeats, scheduled_for=repeats.first)
        return await self.base.intake.admit(cue)

    async def recall(self, task_id: TaskId) -> Task:
        return await self.base.owner.undo(task_id)

    async def answer(self, review_id: ReviewId, text: str) -> Task:
        return await self.base.inbox.decide(review_id, Decision(ReviewAnswer.ANSWER, text, by=_BY))

    async def approve(self, review_id: ReviewId) -> Task:
        return await self.base.inbox.decide(review_id, Decision(ReviewAnswer.APPROVE, by=_BY))


def _runs(tx: Tx, series_id: SeriesId, now: datetime) -> list[datetime]:
    """Return the future runs of a series that are not skipped."""
    found = series_orders.coming(tx, series.find(tx, series_id), now, _MOST_RUNS)
    return [slot.at for slot in found if slot.fate is not SlotFate.SKIPPED]


def _from_now_on(tx: Tx, series_id: SeriesId, now: datetime) -> Repeats:
    """Return the rule of a series, with its next time as the first."""
    rule = series.find(tx, series_id).repeats
    first = next(iter(rrule.slots(rule, now)), None)
    if first is None:
        raise Conflict("It would not come back any more.")
    return replace(rule, first=first)


class ToolUsingBrain:
    """A brain that answers, with the built-in tools that only read."""

    def __init__(
        self, brain: Brain | PaidBrain, own: Mapping[str, OwnTool], context: AppContext
    ) -> None:
        self._brain = brain
        self._own = own
        self._context = context

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(each.tool for each in self._own.values())

    async def think(self, prompt: Prompt, *, session: str) -> Reply | None:
        return await self._brain.think(prompt, session=session)

    async def use(self, call: ToolCall) -> ToolResult:
        own = self._own.get(call.tool)
        if own is None:
            sentence = f"There is no tool {call.tool!r:.60}; there is {', '.join(self._own)}."
            return ToolResult(call.id, sentence, failed=True)
        found = await own.use(self._nobody(), call)
        return ToolResult(call.id, self.mark(found.text, f"the tool {call.tool}"), found.failed)

    def mark(self, text: str, whence: str) -> str:
        return outside.mark(self._context.redact(text), whence)

    def _nobody(self) -> Task:
        """Return a placeholder task: the tools leave out the asking task, and here is none."""
        now = self._context.clock.now()
        return Task(
            id=TaskId("task-talk"),
            type=TaskType.IMMEDIATE,
            source=Source(SourceKind.CONVERSATION, "talk"),
            title="talk",
            instructions="",
            created_at=now,
            last_updated=now,
            created_by=Creator.USER,
            session_id=SessionId("ses-talk"),
        )


def build_conversation(base: Foundation, decisions: NoticeDecisions) -> ConversationLoop:
    doer = IntentExecutor(
        db=base.db,
        clock=base.clock,
        zone=base.zone,
        ear=ConversationIntake(base),
        hands=OwnerOperations(base),
        mind=_mind(base),
        who=f"You are {base.settings.agent}.",
        owner=base.settings.owner,
        is_owner=lambda channel, sender: is_same_address(base.owner_address(channel), sender),
    )
    tidings = NoticeFollower(base.db, base.clock, base.ids, base.journal, decisions)
    return ConversationLoop(doer, base.ids, tidings, base.background)


def _mind(context: AppContext) -> AnsweringBrain | None:
    tools = (search_tasks(Policy.ALLOW, context.db), read_task_log(Policy.ALLOW, context.db))
    own = {each.tool.name: each for each in tools}
    if isinstance(context.brain, ModelBrain):
        mind = context.mind(ModelRole.THINK)
        if mind is None:
            return None
        able = own if mind.has_tools else {}
        return ToolUsingBrain(PaidBrain(mind, context.budget, context.clock), able, context)
    return (
        None if isinstance(context.brain, NoBrain) else ToolUsingBrain(context.brain, own, context)
    )
