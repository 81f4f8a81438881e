"""Conversation with the owner: a turn is stored before it is answered, and answered once.

A turn is stored, understood, acted on and answered; each step is stored before the next begins, so
an interrupted turn continues at the next start. Turns of one conversation are handled in order; a
slow model delays no other conversation.
"""

import asyncio
import logging
import re
from collections import Counter
from collections.abc import Awaitable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from remit.converse import scene
from remit.converse.decide_intent import decide
from remit.converse.execute import IntentExecutor, TurnAnswer
from remit.converse.intent import Intent, IntentKind
from remit.converse.notice_follower import NoticeFollower
from remit.converse.scene import ConversationScene
from remit.errors import BadInput, NotFound, RemitError, StoreTrouble, WriteRefused
from remit.language.sentences import DEFAULT_LANGUAGE, text_in_language
from remit.model.codec import JsonMap, from_json, to_json
from remit.model.conversation import (
    MAX_TURN,
    Action,
    Conversation,
    Role,
    TaskRef,
    Turn,
    check_title,
)
from remit.model.ids import ConversationId, Ids, TaskId
from remit.store import after_restore, conversations, cues, notices, tasks
from remit.store.conversations import NewTurnRecord
from remit.store.cues import InboundMessage
from remit.store.database import Tx
from remit.system.background import Background, LocksByKey

LOOP: Final = "conversation updates"
LEFT_LOOP: Final = "unanswered turns"
LEFT_AFTER: Final = timedelta(minutes=2)  # a model may think so long in another process
REFUSED_LOOP: Final = "refused answers"
MAX_REFUSALS: Final = 3  # of one answer; then that is shown
NAMELESS: Final = "New conversation"
_TITLE: Final = 48
_LEAST: Final = 8  # letters a sentence needs to become a title
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s")
_RESTORED: Final = (
    "A backup was restored before I answered this, so it may have been done already. Now nothing "
    "was done; say it again if it shall be."
)
_LOG: Final = logging.getLogger(__name__)
_BROKE: Final = "Something broke while this was answered. What you said is kept; say it once more."


class ConversationLoop:
    def __init__(
        self, doer: IntentExecutor, ids: Ids, tidings: NoticeFollower, background: Background
    ) -> None:
        self._doer = doer
        self._db = doer.db
        self._clock = doer.clock
        self._ids = ids
        self._tidings = tidings
        self._order: LocksByKey[ConversationId] = LocksByKey()
        self._at_work: dict[tuple[ConversationId, int], asyncio.Task[None]] = {}
        self._model_asked: dict[tuple[ConversationId, int], asyncio.Event] = {}
        self._background = background
        self._refusals: Counter[tuple[ConversationId, int]] = Counter()
        self._refused_why = ""

    async def start(self) -> None:
        """Resume interrupted turns, and follow the tasks from now on."""
        await self.take_up()
        self._background.start(LOOP, self._tidings.follow)
        self._background.start(LEFT_LOOP, self._take_up_left)

    async def take_up(self, upto: datetime | None = None) -> None:
        """Answer every turn that has no answer yet."""
        for turn in await self._db.read(conversations.list_unanswered):
            if upto is None or turn.said_at <= upto:
                self._take_up(turn)

    async def _take_up_left(self) -> None:
        """Answer what a process that died has left, or what the store did not take."""
        while True:
            await self._clock.sleep(LEFT_AFTER.total_seconds())
            with suppress(StoreTrouble):
                await self.take_up(self._clock.now() - LEFT_AFTER)

    async def _show_refusals(self) -> None:
        """Fail, and so be shown, until every answer could be stored."""
        if max(self._refusals.values(), default=0) >= MAX_REFUSALS:
            raise WriteRefused(f"An answer could not be stored: {self._refused_why}")

    async def stop(self) -> None:
        """Stop; an unanswered turn stays owed."""
        await self._background.stop(LOOP, LEFT_LOOP, REFUSED_LOOP)
        at_work = list(self._at_work.values())
        for work in at_work:
            work.cancel()
        await asyncio.gather(*at_work, return_exceptions=True)

    async def settled(self) -> None:
        """Wait until every turn is answered and all news is posted."""
        while self._at_work:
            await asyncio.wait(list(self._at_work.values()))
        await self._tidings.catch_up()

    # Conversations ------------------------------------------------------------------------------

    async def begin(self, title: str = "", channel: str = "dashboard") -> Conversation:
        now = self._clock.now()
        title = check_title(title) if title else NAMELESS
        made = Conversation(self._ids.conversation(), title, now, now, channel)
        return await self._db.write(conversations.begin, made)

    async def resume(self, task_id: TaskId) -> Conversation:
        """Return the conversation a task came from; if there is none, a new one about it."""
        fresh = self._ids.conversation()
        return await self._db.write(_reopen_conversation, task_id, fresh, self._clock.now())

    # Turns --------------------------------------------------------------------------------------

    async def say(
        self,
        ident: ConversationId,
        text: str,
        *,
        about: TaskId | None = None,
        channel: str = "dashboard",
        key: str | None = None,
        context: "JsonMap | None" = None,
    ) -> Turn:
        """Store what the owner says; the answer follows. The same key is the same turn."""
        record = NewTurnRecord(
            role=Role.USER,
            content=check_turn_text(text),
            channel=channel,
            key=key,
            about=about,
            context=context or {},
        )
        turn = await self._db.write(_store_turn, ident, record, self._clock.now())
        if turn.owed:
            self._take_up(turn)
        return turn

    async def receive(self, message: InboundMessage) -> Turn | None:
        """Store what the owner wrote on a channel; None if it is not the owner, or empty.

        A reply finds the task of its message. The answer is posted in the conversation.
        """
        text = message.body.get("text")
        media = _media_label(message.body)
        his = bool(message.sender) and self._doer.is_owner(message.channel, message.sender)
        if not his or not isinstance(text, str) or not (text.strip() or media):
            return None
        fresh, now = self._ids.conversation(), self._clock.now()
        place, about = await self._db.write(_found_for, message, fresh, now)
        key = f"in:{message.ref}"
        if not text.strip():
            return await self._store_unopened(place, media, message.channel, key)
        context = message.body.get("context")
        context = context if isinstance(context, dict) else {}
        return await self.say(
            place, text, about=about, channel=message.channel, key=key, context=context
        )

    async def _store_unopened(
        self, place: ConversationId, media: str, channel: str, key: str
    ) -> Turn:
        """Store that something other than text came, and answer that it was not opened."""
        record = NewTurnRecord(role=Role.USER, content=f"[{media}]", channel=channel, key=key)
        turn = await self._db.write(_store_turn, place, record, self._clock.now())
        if turn.owed:
            why = (
                f"You sent {media}. I cannot open it, so nothing was done. Please write it as text."
            )
            await self._write(turn, TurnAnswer(why))
        return turn

    async def answered(
        self, turn: Turn, patience: float, *, from_model: bool = True
    ) -> Turn | None:
        """Return the answer to a turn, if it comes within this many seconds.

        Without `from_model`, only if no model has to be asked.
        """
        place = turn.conversation_id, turn.n
        work, asked = self._at_work.get(place), self._model_asked.get(place)
        if work is not None and asked is not None:
            asking = asyncio.create_task(asked.wait())
            waits = (work,) if from_model else (work, asking)
            await asyncio.wait(waits, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
            asking.cancel()
        return await self._db.read(_answer_to, turn)

    def _take_up(self, turn: Turn) -> None:
        place = turn.conversation_id, turn.n
        if place not in self._at_work:
            work = asyncio.create_task(self._answer(turn))
            self._at_work[place], self._model_asked[place] = work, asyncio.Event()
            work.add_done_callback(lambda _: self._forget(place))

    def _forget(self, place: tuple[ConversationId, int]) -> None:
        self._at_work.pop(place, None)
        self._model_asked.pop(place, None)

    def _asks_model(self, turn: Turn) -> None:
        """Signal that a model is asked now: a caller that does not wait for one returns."""
        if (asked := self._model_asked.get((turn.conversation_id, turn.n))) is not None:
            asked.set()

    async def _answer(self, turn: Turn) -> None:
        try:
            # In order, up to the answer: "cancel it" must know what was said before. Nothing else
            # waits for a model.
            async with self._order[turn.conversation_id]:
                seen = await self._db.read(scene.look, turn)
                answer = await self._safely(self._answer_scene(seen))
                if not answer.thinks:
                    await self._write(turn, answer, seen.language)
            if answer.thinks:
                if self._doer.mind is not None:
                    self._asks_model(turn)
                answer = await self._safely(self._doer.think(answer, seen))
                await self._write(turn, answer, seen.language)
            self._refusals.pop((turn.conversation_id, turn.n), None)
        except NotFound:  # deleted meanwhile
            self._refusals.pop((turn.conversation_id, turn.n), None)
        except StoreTrouble as trouble:  # nothing can be written now, and it stays owed
            self._refusals[(turn.conversation_id, turn.n)] += 1
            self._refused_why = str(trouble)
            if self._refusals[(turn.conversation_id, turn.n)] == MAX_REFUSALS:
                self._background.start(REFUSED_LOOP, self._show_refusals)
        except Exception:  # noqa: BLE001 - it is logged, and stays owed
            _LOG.exception("The answer to a turn could not be written.")

    async def _answer_scene(self, seen: ConversationScene) -> TurnAnswer:
        if await self._db.read(after_restore.may_be_done, seen.turn.said_at):
            return TurnAnswer(_RESTORED)
        intent = await self._read_intent(seen)
        if intent.what is IntentKind.HEAR and self._doer.ear.reads_by_model:
            self._asks_model(seen.turn)
        answer = await self._doer.do(intent, seen)
        while isinstance(answer, Intent):
            await self._keep(seen.turn, answer)
            answer = await self._doer.do(answer, seen)
        return answer

    async def _safely(self, work: Awaitable[TurnAnswer]) -> TurnAnswer:
        """Return the result; after any error the owner still gets an answer."""
        try:
            return await work
        except StoreTrouble:
            raise
        except RemitError as error:
            return TurnAnswer(str(error))
        except Exception:  # noqa: BLE001 - it is logged, and told
            _LOG.exception("A turn could not be answered.")
            return TurnAnswer(_BROKE)

    async def _write(
        self, turn: Turn, answer: TurnAnswer, language: str = DEFAULT_LANGUAGE
    ) -> None:
        """Store an answer, in the language of what was said."""
        record = NewTurnRecord(
            role=Role.ASSISTANT,
            content=text_in_language(answer.text, language),
            channel=turn.channel,
            task_refs=answer.refs,
            receipt=answer.receipt,
            asks=answer.asks,
            notes=answer.notes,
        )
        await self._db.write(conversations.answer, turn, record, self._clock.now())

    async def _read_intent(self, seen: ConversationScene) -> Intent:
        """Return the stored intent of a turn, or decide and store it."""
        if seen.turn.meant:
            return from_json(Intent, seen.turn.meant)
        intent = decide(seen, self._doer.ear, self._clock.now())
        await self._keep(seen.turn, intent)
        return intent

    async def _keep(self, turn: Turn, intent: Intent) -> None:
        """Store a turn's intent before it is executed."""
        kept = to_json(intent)
        assert isinstance(kept, dict)  # noqa: S101 - a dataclass of ours
        await self._db.write(conversations.mean, turn, kept)


def check_turn_text(text: str) -> str:
    """Return the text if it can be stored; raise otherwise."""
    words = text.strip()
    if not words:
        raise BadInput("text is empty; say something.", field="text")
    if len(words) > MAX_TURN:
        sentence = f"text has {len(words)} characters; at most {MAX_TURN} are kept."
        raise BadInput(sentence, field="text")
    return words


def title_of(text: str) -> str:
    """Return a title from the first sentence, shortened to fit."""
    line = " ".join(text.strip().splitlines()[0].split())
    first = _SENTENCE.split(line)[0]
    line = first if len(first) >= _LEAST else line
    if len(line) <= _TITLE:
        return line
    cut = line[:_TITLE].rpartition(" ")[0] if line[_TITLE] != " " else line[:_TITLE]
    return (cut or line[: _TITLE - 1]).rstrip(" ,;:.-") + "…"


def _media_label(body: JsonMap) -> str:
    """Return what a message contains besides text, in words; empty if nothing."""
    media = body.get("media")
    label = media.get("label") if isinstance(media, dict) else None
    return label if isinstance(label, str) else ""


def _store_turn(tx: Tx, ident: ConversationId, record: NewTurnRecord, now: datetime) -> Turn:
    """Store a turn; the first one names an untitled conversation."""
    if record.about is not None:
        tasks.get(tx, record.about)  # raises if it does not exist
    talk = conversations.get(tx, ident)
    turn = conversations.say(tx, ident, record, now, owed=True)
    if talk.title == NAMELESS and turn.n == 1:
        conversations.rename(tx, ident, title_of(record.content))
    return turn


def task_replied_to(tx: Tx, message: InboundMessage) -> TaskId | None:
    """Return the task that an inbound message replies to."""
    ref = message.body.get("reply_to")
    if not isinstance(ref, str):
        return None
    stores = (conversations.replied_to, notices.replied_to, cues.replied_to)
    found = (replied_to(tx, message.channel, ref) for replied_to in stores)
    return next((task for task in found if task is not None), None)


def _found_for(
    tx: Tx, message: InboundMessage, fresh: ConversationId, now: datetime
) -> tuple[ConversationId, TaskId | None]:
    """Return where a message belongs: its task's conversation, or the channel's."""
    task = task_replied_to(tx, message)
    if task is not None and tasks.get(tx, task).deleted_at is None:
        return _reopen_conversation(tx, task, fresh, now).id, task
    found = conversations.on_channel(tx, message.channel)
    made = Conversation(fresh, message.channel, now, now, message.channel)
    return (found or conversations.begin(tx, made)).id, None


def _answer_to(tx: Tx, turn: Turn) -> Turn | None:
    later = conversations.turns(tx, turn.conversation_id, 0, _FOLLOWING)
    return next((each for each in later if each.answers == turn.n), None)


def _reopen_conversation(
    tx: Tx, task_id: TaskId, fresh: ConversationId, now: datetime
) -> Conversation:
    task = tasks.get(tx, task_id)
    if task.deleted_at is not None:
        raise NotFound("task", task_id)
    born = conversations.birthplace(tx, task_id)
    if born is not None:
        return born
    conversations.begin(tx, Conversation(fresh, title_of(task.title), now, now))
    turn = NewTurnRecord(
        role=Role.SYSTEM,
        content=f"This conversation is about “{task.title}”.",
        task_refs=(TaskRef(task_id, Action.DISCUSSED),),
    )
    conversations.say(tx, fresh, turn, now)
    return conversations.get(tx, fresh)


_FOLLOWING: Final = 200  # turns searched for an answer
