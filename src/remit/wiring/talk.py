"""Talk, joined to the rooms it does not know: intake hears, the owner acts, a brain answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from remit.brain import outside
from remit.brain.absent import NoBrain
from remit.brain.choose import Role
from remit.brain.fill import Paying
from remit.brain.models import ModelBrain
from remit.brain.tool.log import read_task_log
from remit.brain.tool.own import Own
from remit.brain.tool.search import search_tasks
from remit.converse.does import Doer
from remit.converse.plugs import Mind, Unclear, Understood
from remit.converse.talk import Talk
from remit.converse.tidings import Tells, Tidings
from remit.errors import BadInput
from remit.intake import answers, heard, lexicon
from remit.intake.admit import Intake
from remit.intake.book import Contacts
from remit.intake.card import card_lines
from remit.intake.days import Doubt
from remit.intake.extract import extract
from remit.intake.hear import Ear
from remit.intake.heard import Message
from remit.intake.lexicon.shape import Talk as Chat
from remit.intake.times import Moment
from remit.journal.follow import Journal
from remit.model.edit import Edit
from remit.model.ids import Ids, ReviewId, SessionId, TaskId
from remit.model.permit import Reach
from remit.model.phone import is_same_address
from remit.model.reply import Policy, Prompt, Reply, Tool, ToolCall, ToolResult
from remit.model.review import Answered, Decision, Review
from remit.model.status import Status
from remit.model.task import Creator, Source, SourceKind, Task, TaskType
from remit.owner import Owner
from remit.ports import Brain
from remit.review.inbox import Inbox
from remit.settings import Settings
from remit.store import edits
from remit.wiring.ground import Ground

_BY: Final = "owner: in a conversation"


@dataclass(frozen=True, slots=True)
class Ears:
    """Intake, as talk needs it."""

    ground: Ground
    intake: Intake
    ear: Ear
    contacts: Contacts

    async def hear(self, text: str, ref: str, said_at: datetime) -> Understood:
        source = Source(SourceKind.CONVERSATION, ref)
        message = Message(text=text, source=source, said_at=said_at)
        found = await self.intake.hear(message)
        return Understood(
            tasks=found.tasks,
            asked=found.reviews,
            sort=found.answer.value if found.answer else None,
            unasked=(*(each.sentence for each in found.unasked), *found.alike),
            receipt=heard.told(found) if found.tasks or found.unasked or found.wish else {},
            card=tuple(card_lines(found.card, asks=False)) if found.card else (),
        )

    def is_talk(self, text: str) -> bool:
        now, zone = self.ground.clock.now(), self.ground.zone
        found = extract(text, now=now, zone=zone, book=self.contacts.bare())
        return not found.tasks and found.answer in (Chat.THANKS, Chat.GREETING, Chat.CHATTER)

    def asks_for_work(self, text: str) -> bool:
        return lexicon.asks_for_work(text)

    def fits(self, task: Task, review: Review, text: str) -> bool | None:
        if not task.gaps or review.task_id != task.id or review.resume_to is not Status.NEW:
            return None
        try:
            settled = self.ear.settling()((task,), review, text, self.ground.clock.now())
        except BadInput:
            return False
        return settled.understood

    def when(
        self, task: Task, words: str, earlier: Sequence[str] = ()
    ) -> datetime | Unclear | None:
        """The words over the task's own time: "Thursday" keeps its hour, "5pm" its day."""
        now, zone = self.ground.clock.now(), self.ground.zone
        local = (task.scheduled_for or now).astimezone(zone)
        base = f"on {local:%Y-%m-%d} at {local:%H:%M}" if task.scheduled_for else ""
        try:
            book = self.contacts.book()
        except BadInput:
            return None
        found = answers.when(words, base, now=now, zone=zone, book=book, earlier=earlier)
        match found:
            case (Moment(at=at),):
                return at
            case (Doubt(why=why), *_):
                return Unclear(why)
            case _:
                return None


@dataclass(frozen=True, slots=True)
class Hands:
    """What the owner may do, for him."""

    ground: Ground
    owner: Owner
    inbox: Inbox

    async def pause(self, task_id: TaskId) -> Task:
        return await self.owner.pause(task_id)

    async def resume(self, task_id: TaskId) -> Task:
        return await self.owner.resume(task_id)

    async def cancel(self, task_id: TaskId) -> Task:
        return await self.owner.cancel(task_id)

    async def run_now(self, task_id: TaskId) -> Task:
        return await self.owner.run_now(task_id)

    async def reschedule(self, task_id: TaskId, at: datetime) -> Task:
        change, now = Edit(scheduled_for=at), self.ground.clock.now()
        return await self.ground.db.write(edits.edit, task_id, change, now)

    async def answer(self, review_id: ReviewId, text: str) -> Task:
        return await self.inbox.decide(review_id, Decision(Answered.ANSWER, text, by=_BY))

    async def approve(self, review_id: ReviewId) -> Task:
        return await self.inbox.decide(review_id, Decision(Answered.APPROVE, by=_BY))


class Reader:
    """A brain that answers, with the house's own tools that only read."""

    def __init__(self, brain: Brain | Paying, own: Mapping[str, Own], ground: Ground) -> None:
        self._brain = brain
        self._own = own
        self._ground = ground

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
        return outside.mark(self._ground.redact(text), whence)

    def _nobody(self) -> Task:
        """Who looks: the tools leave out the task that asks, and here none does."""
        now = self._ground.clock.now()
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


def talk(ground: Ground, ids: Ids, journal: Journal, ears: Ears, hands: Hands, told: Tells) -> Talk:
    settings = ground.settings
    doer = Doer(
        db=ground.db,
        clock=ground.clock,
        zone=ground.zone,
        ear=ears,
        hands=hands,
        mind=_mind(ground),
        who=f"You are {settings.agent}.",
        owner=settings.owner,
        is_owner=lambda channel, sender: _is_owner(settings, ears.contacts, channel, sender),
    )
    tidings = Tidings(ground.db, ground.clock, ids, journal, told)
    return Talk(doer, ids, tidings, ground.background)


def _is_owner(settings: Settings, contacts: Contacts, channel: str, sender: str) -> bool:
    """Whether the book says that the owner writes from there, or the channel's own settings do."""
    reach = contacts.find(None, channel)
    known = reach.address if isinstance(reach, Reach) and reach.owner else None
    his = known or str(getattr(settings.channels.get(channel), "owner", ""))
    return is_same_address(his, sender)


def _mind(ground: Ground) -> Mind | None:
    tools = (search_tasks(Policy.ALLOW, ground.db), read_task_log(Policy.ALLOW, ground.db))
    own = {each.tool.name: each for each in tools}
    if isinstance(ground.brain, ModelBrain):
        mind = ground.mind(Role.THINK)
        if mind is None:
            return None
        able = own if mind.has_tools else {}
        return Reader(Paying(mind, ground.purse, ground.clock), able, ground)
    return None if isinstance(ground.brain, NoBrain) else Reader(ground.brain, own, ground)
