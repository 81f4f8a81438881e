"""Shows how a task goes on: one message in the chat where it was ordered, edited as it goes on.

The message is the answer to the order. If that one is old, or its id is not known, a silent one is
made, once. What is shown is read from the store, so it goes on after a restart. It has titles and
states, and nothing of the work. It is no delivery: if it cannot be shown, nothing else fails.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, tzinfo
from http import HTTPStatus
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from remit.channels import ChatContext
from remit.channels.markdown import plain
from remit.channels.telegram.bot_api import BotAnswer, BotReply, answer_of, chat_of
from remit.channels.telegram.sending import MAX_UNITS, MarkedText, TelegramChannel, render, units
from remit.failpoint import failpoint
from remit.language.sentences import notice_sentence, task_language
from remit.model.contract import ItemStatus
from remit.model.conversation import Action, TaskRef
from remit.model.delivery import Accepted, Locked, SendRetry
from remit.model.ids import TaskId
from remit.model.status import ACTIVE, TERMINAL, Status
from remit.model.task import Task
from remit.store import cues, meta, tasks
from remit.store.database import Tx

EDIT_SECONDS: Final = 3.0  # at least so long between two edits
FRESH: Final = timedelta(minutes=10)  # an older answer is too far up to be looked at
_PAUSES_SECONDS: Final = (5.0, 15.0, 60.0)  # while Telegram cannot be reached
_MAX_ITEMS: Final = 12
_MAX_TITLE: Final = 80
_MAX_HEAD_UNITS: Final = 3_000  # below a longer text there is no room
_REFUSED: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.FORBIDDEN)
_STATES: Final = {  # what has not begun is not shown
    Status.RUNNING: "Running.",
    Status.VERIFYING: "Checking.",
    Status.DELIVERING: "Sending.",
    Status.NEEDS_REVIEW: "Waits for you.",
    Status.PAUSED: "Paused.",
    Status.COMPLETED: "Done {0}.",
    Status.FAILED: "Failed {0}.",
    Status.CANCELLED: "Cancelled {0}.",
}
_ITEMS: Final = {ItemStatus.PENDING: "○", ItemStatus.COMPLETED: "✓", ItemStatus.FAILED: "✗"}
_LOG: Final = logging.getLogger("remit.telegram")


class _Message(Struct, frozen=True, kw_only=True):
    """A message that shows progress, as it is stored. `head` stands above the progress."""

    chat: int
    tasks: tuple[TaskId, ...]
    at: datetime
    head: str = ""
    marked: bool = True  # the head is Markdown
    message: int | None = None  # its id, once it is known
    shown: str = ""  # what it says now
    begun: bool = False  # it shows progress already
    asks: bool = False  # it has buttons, and an edit would take them away
    claimed: bool = False  # a message of its own was sent, or is in doubt


class _Due(Struct, frozen=True):
    """A message, and what it shall say."""

    stored: _Message
    text: MarkedText
    own: bool  # a new message must be made: the answer is not known, or far up
    differs: bool  # the message says something else
    over: bool  # everything in it has ended


class ProgressMessages:
    def __init__(self, context: ChatContext, channel: TelegramChannel) -> None:
        self._context = context
        self._channel = channel
        self._db, self._clock = context.db, context.clock
        self._prefix = prefix_of(context.name)
        self._keys: dict[TaskId, str] = {}
        self._sending: set[str] = set()  # answers that are on their way
        self._changed: dict[str, None] = {}  # in order
        self._bell = asyncio.Event()
        self._edited: datetime | None = None
        self._failures = 0

    # What the others say ------------------------------------------------------------------------

    async def expect(self, key: str, refs: Sequence[TaskRef], text: str) -> None:
        """Note which tasks an answer is about, before it is sent."""
        chat = chat_of(self._context.owner_address())
        if chat is None or not refs:
            return
        made = _Message(chat=chat, tasks=(), at=self._clock.now(), head=text)
        taken = await self._db.write(_expect, self._prefix, key, made, tuple(refs))
        self._keys |= dict.fromkeys(taken, key)
        self._sending.add(key)

    async def note_message(self, key: str, receipt: str | None, *, asks: bool = False) -> None:
        """Note the message that the answer became; None: it may not have arrived."""
        self._sending.discard(key)
        if receipt is not None:
            number = int(receipt.rpartition(":")[2])
            await self._db.write(_place, self._prefix + key, number, asks)
        self._poke(key)

    async def note(self, receipt: str | None, order: int | None, about: Sequence[TaskId]) -> None:
        """Note that a reply to an answer, or to what it answers, is about its one task."""
        name, now = self._context.name, self._clock.now()
        ordered = f"{chat_of(self._context.owner_address())}:{order}" if order else None
        for ref in filter(None, (receipt, ordered)) if len(set(about)) == 1 else ():
            await self._db.write(cues.note_message, name, ref, about[0], now)

    async def takes(self, task_id: TaskId, receipt: str, text: str) -> bool:
        """Show a decision above the progress, if this message shows it; else the caller does."""
        key = self._keys.get(task_id)
        number = int(receipt.rpartition(":")[2])
        if key is None or not await self._db.write(_behead, self._prefix + key, number, text):
            return False
        self._poke(key)
        return True

    def touch(self, task_id: TaskId | None) -> None:
        """Something has happened to a task."""
        if task_id is not None and task_id in self._keys:
            self._poke(self._keys[task_id])

    def _poke(self, key: str) -> None:
        self._changed[key] = None
        self._bell.set()

    # The loop -----------------------------------------------------------------------------------

    async def follow(self) -> None:
        """Show every change, the newest state at once with all that came before it."""
        for key, row in (await self._db.read(meta.starting_with, self._prefix)).items():
            self._keys |= dict.fromkeys(_decode_message(row).tasks, key)
            self._poke(key)
        while True:
            await self._bell.wait()
            self._bell.clear()
            while self._changed:
                key = next(iter(self._changed))
                del self._changed[key]
                if key not in self._sending:
                    await self._update(key)

    async def _update(self, key: str) -> None:
        due = await self._db.read(self._due, key)
        if due is not None and (due.own or due.differs):
            await self._wait(own=due.own)
            due = await self._db.read(self._due, key)
        if due is None:
            return
        if due.own:
            await self._send(key, due)
        elif due.differs:
            await self._edit(key, due)
        elif due.over:
            await self._forget(key)

    async def _wait(self, *, own: bool) -> None:
        """Keep the rate. No message is made of what is over in a moment."""
        last, now = self._edited, self._clock.now()
        left = 0.0 if last is None else EDIT_SECONDS - (now - last).total_seconds()
        if own or 0 < left <= EDIT_SECONDS:
            await self._clock.sleep(EDIT_SECONDS if own else left)
        self._edited = self._clock.now()

    def _due(self, tx: Tx, key: str) -> _Due | None:
        row = meta.get(tx, self._prefix + key)
        if row is None:
            return None
        stored, now = _decode_message(row), self._clock.now()
        known = tasks.by_id(tx, stored.tasks)
        found = [known[each] for each in stored.tasks if each in known]
        old = not timedelta(0) <= now - stored.at < FRESH
        over = all(each.status in TERMINAL or each.deleted_at for each in found)
        own = (
            any(each.status in ACTIVE for each in found)
            and (stored.message is None or old)
            and not (stored.begun or stored.claimed)
        )
        used = replace(stored, head="") if own else stored
        text = compose(used.head, used.marked, found, self._context.zone, self._context.redact)
        placed = stored.begun or stored.claimed or over or not old
        differs = placed and stored.message is not None and text.text != stored.shown
        return _Due(stored, text, own, differs and not stored.asks, over)

    async def _edit(self, key: str, due: _Due) -> None:
        stored = due.stored
        assert stored.message is not None  # noqa: S101 - it would not differ
        reply = await self._channel.edit(stored.chat, stored.message, due.text)
        failpoint("telegram:edited")
        if is_shown(reply):
            self._failures = 0
            shown = due.text.text
            await self._db.write(_change, self._prefix + key, shown=shown, begun=True)
            if due.over:
                await self._forget(key)
        elif isinstance(reply, BotReply) and reply.code in _REFUSED:
            _LOG.info("Progress cannot be shown in Telegram: %s", reply.said)
            await self._forget(key)  # the message was deleted, or the bot is blocked
        else:
            after = reply.retry_after if isinstance(reply, BotReply) else None
            await self._pause(key, after)

    async def _send(self, key: str, due: _Due) -> None:
        """Make a message of its own, once: if it is in doubt, it is not made again."""
        stored, name = due.stored, self._prefix + key
        await self._db.write(_change, name, claimed=True)
        reply = await self._channel.post(stored.chat, due.text, silent=True)
        failpoint("telegram:progress")
        answer = answer_of(reply, stored.chat, self._clock.now())
        if isinstance(answer, Accepted):
            number = int(answer.ref.rpartition(":")[2])
            made = {"message": number, "head": "", "shown": due.text.text, "begun": True}
            await self._db.write(_change, name, **made)
            await self.note(answer.ref, None, stored.tasks)
            self._poke(key)
        elif isinstance(answer, SendRetry | Locked):  # it did not leave
            await self._db.write(_change, name, claimed=False)
            await self._pause(key, answer.after if isinstance(answer, SendRetry) else None)

    async def _pause(self, key: str, after: float | None) -> None:
        pause = _PAUSES_SECONDS[min(self._failures, len(_PAUSES_SECONDS) - 1)]
        self._failures += 1
        self._poke(key)
        await self._clock.sleep(pause if after is None else after)

    async def _forget(self, key: str) -> None:
        await self._db.write(meta.delete, self._prefix + key)
        self._keys = {task: each for task, each in self._keys.items() if each != key}


def prefix_of(channel: str) -> str:
    """Return the prefix of the names of all stored messages of a channel."""
    return f"telegram:{channel}:progress:"


def compose(
    head: str, marked: bool, found: Sequence[Task], zone: tzinfo, redact: Callable[[str], str]
) -> MarkedText:
    """Return a message: its head, then the items and state of each task that has begun."""
    shown = render(head) if marked else MarkedText(head)
    titled = len(found) > 1 or not head
    for most in (_MAX_ITEMS, 0):
        blocks = [_block(each, most, titled, zone, redact) for each in found]
        text = "\n\n".join(filter(None, (shown.text, *blocks)))
        if units(text) <= MAX_UNITS:
            return MarkedText(text, shown.entities)
    while units(text) > MAX_UNITS:
        blocks.pop()
        text = "\n\n".join(filter(None, (shown.text, *blocks, "…")))
    return MarkedText(text, shown.entities)


def _block(task: Task, most: int, titled: bool, zone: tzinfo, redact: Callable[[str], str]) -> str:
    state = _STATES.get(task.status)
    if state is None:
        return ""
    language = task_language(task)
    title = plain(redact(task.title), _MAX_TITLE)
    lines = [f"“{title}”"] if titled else []
    items = [(each.status, plain(redact(each.description), _MAX_TITLE)) for each in task.work]
    if len(items) > 1:  # a single one says what the order says
        lines += [f"{_ITEMS[status]} {name}" for status, name in items[:most]]
        left = len(items) - most
        lines += [notice_sentence("… and {0} more", language, left)] if left > 0 else []
    at = f"{task.last_updated.astimezone(zone):%H:%M}"
    lines.append(notice_sentence(state, language, at))
    return "\n".join(lines)


def is_shown(reply: BotAnswer) -> bool:
    return isinstance(reply, BotReply) and (reply.ok or "not modified" in reply.said)


def _expect(
    tx: Tx, prefix: str, key: str, made: _Message, refs: Sequence[TaskRef]
) -> tuple[TaskId, ...]:
    """Store what an answer is about: what it created, and what another has not shown yet."""
    stored = {each: _decode_message(row) for each, row in meta.starting_with(tx, prefix).items()}
    known = {task: name for name, each in stored.items() for task in each.tasks if name != key}
    found = tasks.by_id(tx, [each.task_id for each in refs])
    mine: dict[TaskId, None] = {}
    for ref in refs:
        task, other = found.get(ref.task_id), known.get(ref.task_id)
        if task is None or task.series_id is not None:
            continue  # of what repeats, only results come
        if other is None and ref.action is Action.CREATED:
            mine[task.id] = None
        elif other is not None and not (stored[other].begun or stored[other].claimed):
            left = tuple(each for each in stored[other].tasks if each != task.id)
            stored[other] = replace(stored[other], tasks=left)
            _put(tx, prefix + other, stored[other] if left else None)
            mine[task.id] = None
    if mine:
        _put(tx, prefix + key, replace(made, tasks=tuple(mine)))
    return tuple(mine)


def _place(tx: Tx, name: str, message: int, asks: bool) -> None:
    row = meta.get(tx, name)
    if row is not None:
        stored = _decode_message(row)
        shown = render(stored.head).text
        fits = units(shown) <= _MAX_HEAD_UNITS
        _change(tx, name, message=message if fits else None, shown=shown, asks=asks)


def _behead(tx: Tx, name: str, message: int, text: str) -> bool:
    """Replace what stands above the progress; False if this is another message."""
    row = meta.get(tx, name)
    if row is None or _decode_message(row).message != message:
        return False
    head = text if units(text) <= _MAX_HEAD_UNITS else f"{text[: _MAX_HEAD_UNITS // 2]}…"
    _change(tx, name, head=head, marked=False, asks=False)
    return True


def _change(tx: Tx, name: str, /, **fields: object) -> None:
    row = meta.get(tx, name)
    if row is not None:
        _put(tx, name, replace(_decode_message(row), **fields))


def _put(tx: Tx, name: str, stored: _Message | None) -> None:
    if stored is None:
        meta.delete(tx, name)
    else:
        meta.put(tx, name, msgspec.json.encode(stored).decode())


def _decode_message(row: str) -> _Message:
    return msgspec.json.decode(row, type=_Message)
