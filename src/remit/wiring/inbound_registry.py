"""Wires each inbound way to the packages that turn it into work."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from msgspec.structs import replace

from remit.brain.budget import midnight
from remit.channels import ChannelContext, people
from remit.channels.buttons import ChatButtons
from remit.channels.mail import EmailSettings
from remit.channels.mail.imap import MailboxAccount
from remit.channels.mail.mailbox_watch import MailWatch, MailWatchPorts
from remit.channels.mail.receiving import MailHead
from remit.channels.mail.sending import imap_account
from remit.channels.people import OwnerMail, Person
from remit.channels.registry import InboundCleanup
from remit.channels.webhook import receiving
from remit.channels.webhook.receiving import HookCall
from remit.converse import meaning
from remit.errors import BadInput, Conflict, NotFound
from remit.intake.message import OwnerMessage
from remit.language.order_words import asks_for_work
from remit.model.codec import JsonMap
from remit.model.conversation import Notice, NoticeContent, NoticeKind
from remit.model.ids import ReviewId, TaskId
from remit.model.permit import Reach, is_same_address
from remit.model.review import Review
from remit.model.task import Cue, Source, SourceKind, Taint
from remit.settings.doors import ANY, START, FolderSettings, HookSettings, InboundRule
from remit.store import after_restore, conversations, cues, notices, reviews, tasks
from remit.store.cues import Arrival, CueFate, InboundCaps, InboundMessage, StoredCue
from remit.store.database import Tx
from remit.store.opening import task_files
from remit.system.background import LoopGroup
from remit.triggers import files
from remit.triggers.cue_admission import Begin, CueAdmission, StartedCue
from remit.triggers.files import FolderPorts, FolderWatch
from remit.wiring.app_context import TakeMessage
from remit.wiring.chats import ChatWiring
from remit.wiring.foundation import Foundation

_RETRIES: Final = timedelta(days=1)
_BY_MAIL: Final = "owner: by mail"
_SEVERAL: Final = "your reply decided nothing: that mail asks several questions. Use the inbox."
_TOO_LATE: Final = "it was decided before your mail came, so that changed nothing."
_RESTORED: Final = "a backup was restored after it came, and it may be done already"
_SAY_AGAIN: Final = f"your mail changed nothing now: {_RESTORED}. If it is not, write once more."
_MAX_REF: Final = 400  # characters of an id used as a task's ref


class CallUnsigned(BadInput):
    """A call that does not prove that it knows its hook's secret."""


class CallTooLarge(BadInput):
    """A call that is larger than its hook accepts."""


class InboundRegistry:
    """Every door of the settings."""

    def __init__(self, base: Foundation, talk: TakeMessage, buttons: ChatButtons) -> None:
        self._base = base
        self._talk = talk
        self._settings = base.settings
        self._begin_by_door = dict(self._begins())
        self.chats = ChatWiring(base, talk, buttons)
        self.keeper = CueAdmission(base.db, base.clock, self._begin_by_door, midnight(base.zone))

    def set_hooks(self, hooks: Mapping[str, HookSettings]) -> None:
        """Use these hooks from now on, and no others."""
        self._settings = replace(self._settings, hooks=hooks)
        self._begin_by_door.clear()
        self._begin_by_door.update(self._begins())

    def watches(self) -> tuple[LoopGroup, ...]:
        """Return all mailboxes and folders to watch; errors in the settings are reported."""
        base = self._base
        found: list[LoopGroup] = [
            self.mailbox(name)
            for name in self._settings.doors
            if isinstance(self._settings.channels[name], EmailSettings)
        ]
        found += [self.folder(name) for name in self._settings.folders]
        found += self.chats.watches(self.wrote)
        if not self._settings.channels:  # otherwise the channels do it
            keep = self._settings.deliver.keep_inbound
            found.append(InboundCleanup(keep, base.db, base.clock, base.background))
        return tuple(found)

    def _begins(self) -> Iterator[tuple[str, Begin]]:
        for name, each in self._settings.hooks.items():
            yield receiving.DOOR + name, partial(self._begin_call, name, each)
        for name, folder in self._settings.folders.items():
            yield f"folder:{name}", partial(self._begin_file, folder)
        for name, door in self._settings.doors.items():
            mails = isinstance(self._settings.channels[name], EmailSettings)
            yield name, partial(self._begin_mail if mails else self._begin_message, door)

    # Programs -----------------------------------------------------------------------------------

    async def called(self, name: str, call: HookCall) -> StoredCue:
        """Accept a call that knows the secret; a repeated call gets the same answer."""
        settings, now = self._settings.hooks[name], self._base.clock.now()
        # While a secret is replaced, both are stored, separated by a space.
        how = receiving.verify(call, self._base.keys.get(settings.secret).split(), now)
        if how is None or settings.scheme not in (ANY, how):
            sentence = "The secret of this hook was not shown, or long ago; nothing was read."
            raise CallUnsigned(sentence)
        if len(call.body) > settings.largest:
            raise CallTooLarge(f"This hook takes {settings.largest} bytes; this call has more.")
        event = receiving.read(call, how)
        return await self.keeper.take(
            receiving.arrival(name, settings, event), receiving.caps(settings)
        )

    async def _begin_call(self, name: str, settings: HookSettings, kept: StoredCue) -> StartedCue:
        # A caller without an answer may repeat its call for a day.
        return await self._start(receiving.cue(kept, name, settings), kept.heard_at - _RETRIES)

    # Files --------------------------------------------------------------------------------------

    def folder(self, name: str) -> FolderWatch:
        folder = self._settings.folders[name]
        hourly, tokens, cents = folder.hourly, folder.daily_tokens, folder.daily_cents
        caps = InboundCaps(hourly, tokens, cents, turns_away=True, comes_again=True)

        async def take(arrival: Arrival) -> StoredCue:
            # The owner sees what is left out; only a call over a limit is not stored.
            return await self.keeper.take(
                arrival, caps if arrival.fate is CueFate.WAITING else InboundCaps()
            )

        base = self._base
        kept = task_files(self._settings)

        async def note_left(count: int) -> None:
            await base.db.write(cues.keep_unkept, f"folder:{name}", count)

        ports = FolderPorts(take, note_left, kept)
        return FolderWatch(name, folder, ports, base.clock, base.background)

    async def _begin_file(self, folder: FolderSettings, kept: StoredCue) -> StartedCue:
        return await self._start(files.cue(kept, folder), kept.said_at)

    # People -------------------------------------------------------------------------------------

    def mailbox(self, name: str) -> MailWatch:
        """Return the mailbox of an email channel as an inbound watch."""
        door, post = self._settings.doors[name], self._settings.channels[name]
        assert isinstance(post, EmailSettings)  # noqa: S101 - checked with the settings
        base = self._base
        plugs = MailWatchPorts(
            arrival_of=partial(self._sort_mail, name, door),
            with_text=partial(people.with_mail_text, task_files(self._settings)),
            store=partial(self._take_mail, name),
        )
        try:
            context = ChannelContext(name, self._base.keys, base.clock)
            box = MailboxAccount(imap_account(post, context), door.folder)
        except BadInput as bad:
            raise BadInput(f"[doors.{name}]: {bad}", field=name) from None
        return MailWatch(name, door, box, plugs, base.db, base.clock, background=base.background)

    def _sort_mail(self, name: str, door: InboundRule, head: MailHead) -> Arrival | None:
        who = self._find_person(name, head.sender.address) if head.sender else None
        return people.mail_arrival(name, door, head, who)

    async def _take_mail(self, name: str, arrival: Arrival) -> StoredCue:
        return await self.keeper.take(arrival, _caps(self._settings.doors[name]))

    async def _begin_mail(self, door: InboundRule, kept: StoredCue) -> StartedCue:
        if kept.body.get("who") == people.OWNER:
            mail = people.read_owner_mail(kept, asks_for_work)
            if mail.certain:
                return await self._take_owner_mail(kept, mail)
        # Mail that is not surely the owner's is treated like a contact's.
        about = await self._base.db.read(_find_replied_to, kept.door, _threads(kept))
        source = Source(SourceKind.EMAIL, str(kept.body.get("id") or kept.ref)[:_MAX_REF])
        taken = await self._base.db.read(cues.sender_of, source)
        # Anybody can choose a Message-ID: an unverified or foreign one gets the sender added.
        if kept.body.get("verified") is not True or taken not in (None, kept.sender):
            source = Source(SourceKind.EMAIL, f"{source.ref} {kept.name}")
        cue = people.cue(kept, door, source, about[1] if about else None)
        return await self._start(cue, kept.said_at)

    async def _take_owner_mail(self, kept: StoredCue, mail: OwnerMail) -> StartedCue:
        """Handle the owner's mail: a reply continues its task, a request becomes work."""
        about = await self._base.db.read(_find_replied_to, kept.door, _threads(kept))
        reaches = self._reaches_owner(kept.door)
        thread = {name: mail.context.get(name, "") for name in ("threads", "subject")}
        words: JsonMap = {
            "text": mail.text,
            "reply_to": about[0] if about else None,
            "context": thread if reaches and thread["threads"] else {},
        }
        inbound = InboundMessage(kept.ref, kept.door, words, kept.sender, kept.heard_at)
        if about is not None:
            is_new = not await self._may_be_done(kept)
            settled = await self._settle_by_mail(kept, *about, mail.text) if is_new else None
            return settled or await self._converse(kept, inbound, about[1])
        if not mail.text.strip():
            return StartedCue(CueFate.IGNORED, why="it has no words of yours")
        source = Source(SourceKind.EMAIL, str(kept.body.get("id") or kept.ref)[:_MAX_REF])
        message = OwnerMessage(
            text=mail.text,
            source=source,
            context=mail.context,
            home=kept.door if reaches else None,
            taint=mail.taint,
            said_at=kept.said_at,
        )
        found = await self._base.intake.hear(message)
        if found.tasks:
            return StartedCue(CueFate.STARTED, found.tasks[0].id)
        return await self._converse(kept, inbound, None)

    async def _converse(
        self, kept: StoredCue, inbound: InboundMessage, task_id: TaskId | None
    ) -> StartedCue:
        """Let the conversation answer, unless the mail may have been obeyed before a restore."""
        if await self._may_be_done(kept):
            await self._reply(kept, task_id, NoticeKind.MISSED, _SAY_AGAIN, "/tasks")
            return StartedCue(CueFate.IGNORED, task_id, _RESTORED)
        turn = await self._talk(inbound)
        return StartedCue(CueFate.TALKED if turn else CueFate.IGNORED, task_id)

    async def _may_be_done(self, kept: StoredCue) -> bool:
        arrived = kept.said_at or kept.heard_at
        return await self._base.db.read(after_restore.may_be_done, arrived)

    async def _settle_by_mail(
        self, kept: StoredCue, ref: str, task_id: TaskId, text: str
    ) -> StartedCue | None:
        """Apply a mail that decides one question; None if the conversation must handle it.

        One that decides nothing, or not clearly what, is answered by mail with what to do.
        """
        db = self._base.db
        question, asks = await db.read(notices.question_in, kept.door, ref)
        if question is not None and text.strip():
            return await self._decide_by_mail(kept, question, task_id, text)
        if not asks or not meaning.is_decision(text):
            return None
        await self._reply(kept, task_id, NoticeKind.QUESTION, _SEVERAL, "/inbox")
        return StartedCue(CueFate.IGNORED, task_id, "the mail before it asks several questions")

    async def _decide_by_mail(
        self, kept: StoredCue, question: ReviewId, task_id: TaskId, text: str
    ) -> StartedCue | None:
        db = self._base.db
        try:
            review = await db.read(reviews.get, question)
            decision = meaning.read_decision(review, text, _BY_MAIL)
            if decision is None:
                if review.decision is None:
                    line, page = _what_to_write(review), f"/inbox/{question}"
                    await self._reply(kept, task_id, NoticeKind.QUESTION, line, page)
                return None
            if review.decision is None:
                await self._base.inbox.decide(question, decision)
            elif (review.decision.answer, review.decision.text) != (decision.answer, decision.text):
                page = f"/tasks/{review.task_id}"
                await self._reply(kept, task_id, NoticeKind.MISSED, _TOO_LATE, page)
                return StartedCue(
                    CueFate.IGNORED, review.task_id, "that question was answered before"
                )
        except (BadInput, Conflict, NotFound):
            return None
        return StartedCue(CueFate.TALKED, review.task_id)

    async def _reply(
        self, kept: StoredCue, task_id: TaskId | None, news: NoticeKind, line: str, page: str
    ) -> None:
        """Tell the owner by mail, in the thread, what a mail did not do; each mail once."""
        base, about = self._base, f"reply:{kept.door}:{kept.ref}"
        now, title = base.clock.now(), str(kept.body.get("subject") or "Your mail")
        if task_id is not None:
            title = (await base.db.read(tasks.get, task_id)).title
        content = NoticeContent(
            news=news, about=about, title=title, line=line, href=page, task_id=task_id
        )
        made = f"ntc-{hashlib.sha256(about.encode()).hexdigest()[:26]}"
        notice = Notice(id=made, telling=content, way=kept.door, made=now, due=now)
        await base.db.write(notices.put, notice)

    def _reaches_owner(self, channel: str) -> bool:
        reach = self._base.contacts.find(None, channel)
        chosen = self._settings.channels[channel]
        return isinstance(reach, Reach) and bool(reach.address or getattr(chosen, "owner", ""))

    async def wrote(self, message: InboundMessage) -> StoredCue | None:
        """Handle a contact's message on a channel that authenticates its senders."""
        door, text = self._settings.doors.get(message.channel), people.words_of(message.body)
        who = self._find_person(message.channel, message.sender) if message.sender else None
        if door is None or door.contacts != START or who is None or who.owner or not text:
            return None
        message = await self.chats.with_file(message, Taint.CONTACT)
        arrival = people.message_arrival(
            message.channel, message.ref, message.sender, message.body, who
        )
        return await self.keeper.take(arrival, _caps(door))

    async def _begin_message(self, door: InboundRule, kept: StoredCue) -> StartedCue:
        """Start a message from the channel's stored row; the sender is looked up again."""
        who = self._find_person(kept.door, kept.sender)
        if who is None:
            return StartedCue(CueFate.IGNORED, why="who wrote is not in your book")
        kept = replace(kept, body=kept.body | {"who": people.CONTACT, "person": who.name})
        source = Source(SourceKind.WHATSAPP, kept.ref.rpartition(" ")[2][:_MAX_REF])
        return await self._start(people.cue(kept, door, source), kept.said_at)

    def _find_person(self, channel: str, address: str) -> Person | None:
        """Return the contact with an address."""
        chosen = self._settings.channels[channel]
        if is_same_address(getattr(chosen, "owner", ""), address):
            return Person(self._settings.owner, owner=True)
        for entry in self._base.contacts.known_entries():
            lines = entry.lines.values()
            if any(is_same_address(line.address, address) or line.id == address for line in lines):
                return Person(entry.name, owner=entry.role == people.OWNER)
        return None

    # Each of them -------------------------------------------------------------------------------

    async def _start(self, cue: Cue, said_at: datetime | None) -> StartedCue:
        task = await self._base.intake.admit(replace(cue, said_at=said_at))
        return StartedCue(CueFate.STARTED, task.id)


def _caps(door: InboundRule) -> InboundCaps:
    return InboundCaps(door.hourly, door.daily_tokens, door.daily_cents, each=True)


def _what_to_write(review: Review) -> str:
    words = " or ".join(f"“{each}”" for each in meaning.decision_words(review))
    return f"your reply decided nothing. Reply with {words} alone, or use the inbox."


def _threads(kept: StoredCue) -> list[str]:
    """Return the ids a mail refers to, nearest first, without its own."""
    found = kept.body.get("threads")
    ids = [str(each) for each in found] if isinstance(found, list) else []
    return [each for each in reversed(ids) if each != kept.body.get("id")]


def _find_replied_to(tx: Tx, channel: str, ids: Sequence[str]) -> tuple[str, TaskId] | None:
    """Return our message that a mail replies to, and its task."""
    for each in ids:
        found = conversations.replied_to(tx, channel, each) or notices.replied_to(tx, channel, each)
        if found is not None:
            return each, found
    return None
