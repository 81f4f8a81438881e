"""Turns a cue into a stored task. Bad input is refused with a sentence, and nothing is stored."""

import re
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import Final, Protocol

from msgspec.structs import replace

from remit.errors import BadInput, NotPossibleNow, UnknownName
from remit.intake.extraction import Extraction
from remit.intake.message import MessageResult, OwnerMessage
from remit.model.codec import JsonMap, check_moment, text_of
from remit.model.contract import (
    Clause,
    ClauseOutcome,
    Contract,
    ContractType,
    OwnerRequest,
    RankingRule,
)
from remit.model.delivery import Delivery
from remit.model.ids import Ids, TaskId
from remit.model.task import Creator, Cue, Edit, Priority, Task, TaskType
from remit.model.task_file import files_in
from remit.ports import Clock
from remit.store import after_restore, events, messages, tasks
from remit.store.database import Database, Tx

MOST_TITLE: Final = 300
MOST_TEXT: Final = 100_000
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
PATIENCE: Final = timedelta(minutes=1)  # a time that passed while the request was on its way


class MessageReceiver(Protocol):
    """Reads the owner's messages, and stores what they ask for."""

    async def hear(self, message: OwnerMessage) -> MessageResult: ...

    async def receive(self, message: OwnerMessage) -> MessageResult: ...

    async def read(self, message: OwnerMessage) -> Extraction: ...

    async def wait_read(self, task_id: TaskId) -> None: ...


class Intake:
    """Admits everything: cues that are complete, and messages that must be read."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        ids: Ids,
        channels: Collection[str],
        ear: MessageReceiver | None = None,
        find_contact: Callable[[str], str | None] | None = None,
    ) -> None:
        self._meant = find_contact  # the whole name of whom words mean; None is the owner
        self._db = db
        self._channels = channels
        self._clock = clock
        self._ids = ids
        self._ear = ear

    async def admit(self, cue: Cue) -> Task:
        """Store the task durably, then return it; the same cue twice is the same task."""
        cue = replace(cue, delivery=self._meant_for(cue.delivery))
        task = make(cue, self._ids, self._clock.now())
        return await self._db.write(after_restore.admit, task, cue.said_at)

    async def edit(
        self,
        task_id: TaskId,
        change: Edit,
        version: str | None = None,
        by: str | None = None,
    ) -> Task:
        """Change a task that has not begun, with the same checks as at admission.

        With a version, only if the task still has it. `by` is the program that acts for the owner,
        if any.
        """
        if change.is_empty:
            raise BadInput("Nothing is to be changed; say title, instructions or another field.")
        now = self._clock.now()
        was = await self._db.read(tasks.get, task_id)
        sends = self._sent(change.delivery) if change.delivery is not None else None
        check(
            Cue(
                source=was.source,
                title=change.title if change.title is not None else was.title,
                text="",
                instructions=change.instructions,
                delivery=sends or (),
                scheduled_for=change.scheduled_for,
            ),
            now,
        )
        title = change.title.strip() if change.title is not None else None
        change = replace(change, title=title, delivery=sends)
        if by is not None:
            return await self._db.write(
                events.on_behalf_of(by, _edit), task_id, change, version, now
            )
        return await self._db.write(_edit, task_id, change, version, now)

    async def hear(self, message: OwnerMessage) -> MessageResult:
        """Read a message that is already stored, and store all that it asks for.

        The same message twice gives the same tasks.
        """
        return await self._listening().hear(message)

    async def receive(self, message: OwnerMessage, *, wait: bool = False) -> MessageResult:
        """Store a message durably; return what it asks for, or that it is being read.

        With `wait` it returns after the model has read the message.
        """
        ear = self._listening()
        result = await ear.receive(message)
        return await self.became(result.reading, wait=True) if wait and result.reading else result

    async def became(self, task_id: TaskId, *, wait: bool = False) -> MessageResult:
        """Return what a stored message became, by its task; with `wait` once it is read."""
        if wait:
            await self._listening().wait_read(task_id)
        task = await self._db.read(tasks.get, task_id)
        words = task.request.text if task.request else task.title
        return await self._listening().hear(OwnerMessage(text=words, source=task.source))

    async def read(self, message: OwnerMessage) -> Extraction:
        """Return what a message would become; nothing is stored."""
        return await self._listening().read(message)

    def addressed(self, delivery: Delivery) -> Delivery:
        """Return where a text goes if that channel exists, with the recipient's full name."""
        _delivery(delivery)
        return self._meant_for((delivery,))[0]

    def _sent(self, deliveries: tuple[Delivery, ...]) -> tuple[Delivery, ...]:
        named = self._meant_for(deliveries)
        return tuple(replace(each, id=self._ids.delivery()) for each in named)

    def _meant_for(self, deliveries: tuple[Delivery, ...]) -> tuple[Delivery, ...]:
        """Check the channels, and write each recipient's full name: a short one may change."""
        for delivery in deliveries:
            if delivery.channel not in self._channels:
                known = ", ".join(sorted(self._channels))
                sentence = f"There is no channel {delivery.channel!r:.60}; there is {known}."
                raise UnknownName(sentence, field="channel")
        find_contact = self._meant
        return (
            deliveries
            if find_contact is None
            else tuple(_with_contact_name(each, find_contact) for each in deliveries)
        )

    def _listening(self) -> MessageReceiver:
        if self._ear is None:
            raise BadInput("This Remit takes tasks, not messages. Give title, work and delivery.")
        return self._ear


def _edit(tx: Tx, task_id: TaskId, change: Edit, version: str | None, now: datetime) -> Task:
    if version is None:
        return messages.edit(tx, task_id, change, now)
    return tasks.matching(tx, version, messages.edit, task_id, change, now)


def make(cue: Cue, ids: Ids, now: datetime) -> Task:
    """Turn a cue into a task, or say what is wrong with it."""
    check(cue, now)
    text = cue.text or cue.title
    return Task(
        id=ids.task(),
        type=TaskType.SCHEDULED if cue.scheduled_for else TaskType.IMMEDIATE,
        source=cue.source,
        title=cue.title.strip(),
        instructions=cue.instructions or text,
        request=OwnerRequest(text, (Clause(text, 0, len(text), _became(cue)),)),
        created_at=now,
        last_updated=now,
        created_by=cue.created_by,
        session_id=cue.session_id or ids.session(),
        series_id=cue.series_id,
        slot=cue.slot,
        work=cue.work,
        delivery=tuple(replace(delivery, id=ids.delivery()) for delivery in cue.delivery),
        contract=cue.contract,
        context=cue.context,
        files=files_in(cue.context),
        priority=cue.priority or Priority.LOW,
        rule=_rule(cue) if cue.priority else None,
        taint=cue.taint,
        veto=cue.veto,
        conditions=cue.conditions,
        scheduled_for=cue.scheduled_for,
        repeats=cue.repeats,
        retry_of=cue.retry_of,
        assigned_agent=cue.assigned_agent,
    )


def _rule(cue: Cue) -> RankingRule:
    """Return the rule that records who set the priority."""
    if cue.created_by is Creator.AGENT:
        return RankingRule("agent", "the agent that asked for it said so")
    return RankingRule("owner", "the owner said so")


def check(cue: Cue, now: datetime) -> None:
    """Refuse a cue that no task can be made of."""
    _text("title", cue.title, MOST_TITLE)
    if not cue.title.strip():
        raise BadInput("title is empty; say in a few words what is to be done.", field="title")
    if "\n" in cue.title.strip():
        raise BadInput("title must be one line; put the rest into instructions.", field="title")
    _text("text", cue.text, MOST_TEXT)
    _text("instructions", cue.instructions or "", MOST_TEXT)
    _text("source ref", cue.source.ref, 500)
    for item in cue.work:
        _text("work item", item.description, MOST_TEXT)
    for delivery in cue.delivery:
        _delivery(delivery)
    _context(cue.context)
    if cue.contract is not None:
        _contract(cue.contract)
    check_moment(cue.scheduled_for, "scheduled_for")
    check_moment(cue.repeats.first if cue.repeats else None, "repeats.first")
    # A slot that has passed is caught up; what somebody plans for the past is a slip.
    passed = cue.scheduled_for is not None and cue.scheduled_for < now - PATIENCE
    if passed and cue.slot is None:
        sentence = (
            f"scheduled_for {cue.scheduled_for:%Y-%m-%d %H:%M} UTC has passed; give a time to come."
        )
        raise NotPossibleNow(sentence, field="scheduled_for")


def check_text(text: str) -> None:
    """Refuse a message that cannot be read."""
    _text("text", text, MOST_TEXT)
    if not text.strip():
        raise BadInput("text is empty; say in a few words what is to be done.", field="text")


def _context(context: JsonMap) -> None:
    try:
        size = len(text_of(context).encode())
    except (ValueError, RecursionError):
        raise BadInput("context holds something that is not JSON text.", field="context") from None
    if size > MOST_TEXT:
        sentence = f"context has {size} bytes; at most {MOST_TEXT} are kept."
        raise BadInput(sentence, field="context")


def _contract(contract: Contract) -> None:
    if contract.type is ContractType.VERIFIABLE and not contract.criteria:
        sentence = "A verifiable contract needs at least one criterion; else nothing proves it."
        raise BadInput(sentence, field="contract")
    for criterion in contract.criteria:
        _text("criterion", criterion.activity + criterion.description, MOST_TEXT)


def _with_contact_name(delivery: Delivery, find_contact: Callable[[str], str | None]) -> Delivery:
    words = delivery.recipient
    return replace(delivery, recipient=None if words is None else find_contact(words))


def _delivery(delivery: Delivery) -> None:
    _text("channel", delivery.channel, 100)
    _text("recipient", delivery.recipient or "", 500)
    _text("content", delivery.content or "", MOST_TEXT)
    if delivery.content is not None and not delivery.content.strip():
        raise BadInput("content is empty; leave it out, and the brain writes it.", field="content")


def _text(name: str, text: str, most: int) -> None:
    if len(text) > most:
        raise BadInput(f"{name} has {len(text)} characters; at most {most} are kept.", field=name)
    found = _CONTROL.search(text)
    if found is not None:
        code = ord(found.group())
        raise BadInput(f"{name} holds a control character (U+{code:04X}).", field=name)


def _became(cue: Cue) -> ClauseOutcome:
    precomposed = cue.delivery and not cue.work and all(d.content for d in cue.delivery)
    return ClauseOutcome.DELIVERY if precomposed else ClauseOutcome.WORK
