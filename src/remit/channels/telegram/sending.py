"""Telegram through a bot: one message per call, sent once.

The Bot API has no idempotency key and cannot look a message up. So a send whose answer is lost
stays unknown, and the owner is asked. Markdown becomes text and entities, computed by code, so no
sign in a text can break it: private characters stand around what is marked, and are counted and
taken out. An address stays visible, so nobody follows a link whose target was not shown.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from markdown_it.tree import SyntaxTreeNode
from msgspec import Struct

from remit.channels import ChannelContext, parts
from remit.channels.markdown import PARSER, MarkdownWriter
from remit.channels.parts import SendRate
from remit.channels.telegram import TelegramSettings
from remit.channels.telegram.bot_api import (
    SEND_SECONDS,
    BotAnswer,
    BotApi,
    BotReply,
    address_of,
    answer_of,
    chat_of,
)
from remit.model.codec import JsonMap
from remit.model.delivery import ActionButton, Answer, Parcel, Refused, SendGuarantee, SendRetry
from remit.model.task_file import FileLimits
from remit.ports import Clock
from remit.store import meta
from remit.store.database import Database
from remit.store.spending import Rates
from remit.system import http_client

MAX_UNITS: Final = 4096  # UTF-16 units of one message
_FIRST: Final = 0xE000  # of the private characters that stand around a mark
_KINDS: Final = ("bold", "italic", "strikethrough", "code", "pre")
_OPEN: Final[Mapping[str, str]] = {kind: chr(_FIRST + n) for n, kind in enumerate(_KINDS)}
_CLOSE: Final = chr(_FIRST + len(_KINDS))
_PRIVATE: Final = re.compile(f"[{chr(_FIRST)}-{_CLOSE}]")
_IN_A_WORD: Final = re.compile(r"\w[*_~]+\w")  # 2*3*4 and file_name_here are no marks
_CODE: Final = re.compile(r"(`+)[^`]+\1|https?://\S+", re.DOTALL)
_MARKS: Final = {"*": "bold", "_": "italic", "~": "strikethrough"}


class MarkedText(Struct, frozen=True):
    text: str
    entities: tuple[JsonMap, ...] = ()


def units(text: str) -> int:
    """Return the length of a text as Telegram counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def split(text: str) -> tuple[str, ...]:
    """The exact messages that a text is sent as; none is longer than Telegram takes."""
    return tuple(
        piece
        for part in parts.split(text, MAX_UNITS)
        for piece in ((part,) if units(part) <= MAX_UNITS else parts.split(part, MAX_UNITS // 2))
    )


def render(markdown: str) -> MarkedText:
    """The text that is shown, with its marks; in doubt, and if a word were lost, as it is."""
    if _PRIVATE.search(markdown) or _IN_A_WORD.search(_CODE.sub("", markdown)):
        return MarkedText(markdown)
    written = _EntityWriter().written(markdown, SyntaxTreeNode(PARSER.parse(markdown)).children)
    made = _extract_marks(written) if written is not None else MarkedText(markdown)
    fits = made.text.strip() and units(made.text) <= MAX_UNITS
    return made if fits else MarkedText(markdown)


class _EntityWriter(MarkdownWriter):
    def heading(self, node: SyntaxTreeNode) -> str:
        return _mark_text("bold", self.blocks(node.children))

    def table(self, rows: list[SyntaxTreeNode]) -> str:
        return "\n".join(
            " | ".join(self.blocks(cell.children) for cell in row.children) for row in rows
        )

    def code_block(self, code: str) -> str:
        return _mark_text("pre", code)

    def code_span(self, code: str) -> str:
        return _mark_text("code", code)

    def with_mark(self, mark: str, node: SyntaxTreeNode) -> str:
        return _mark_text(_MARKS[mark], self.inline(node.children))


def _mark_text(kind: str, text: str) -> str:
    return f"{_OPEN[kind]}{text}{_CLOSE}" if text.strip() else text


def _extract_marks(written: str) -> MarkedText:
    """Take the private characters out, and say where each mark begins and ends."""
    pieces: list[str] = []
    marks: list[tuple[int, int, str]] = []
    open_marks: list[tuple[str, int]] = []
    at = last = 0
    for found in _PRIVATE.finditer(written):
        piece = written[last : found.start()]
        pieces.append(piece)
        at, last = at + units(piece), found.end()
        if found[0] != _CLOSE:
            open_marks.append((_KINDS[ord(found[0]) - _FIRST], at))
        elif open_marks:
            kind, begin = open_marks.pop()
            marks.append((begin, at - begin, kind))
    pieces.append(written[last:])
    entities: list[JsonMap] = [
        {"type": kind, "offset": begin, "length": length}
        for begin, length, kind in sorted(marks)
        if length
    ]
    return MarkedText("".join(pieces), tuple(entities))


_PAIR_SECONDS: Final = 1.0  # between two messages to one chat
_OVERALL: Final = 25  # messages per second to everybody
_IN_A_ROW: Final = 2  # buttons
_ONE_FILE: Final = "A file goes by Telegram as a message of its own, without other words."
_NO_OWNER: Final = "No chat is connected with you. Make a code with `remit channels pair {}`."


def build(section: TelegramSettings, context: ChannelContext) -> "TelegramChannel":
    bot = BotApi(context.keys.token(section.token), section.url)
    return TelegramChannel(bot, context.clock, context.db, name=context.name)


class TelegramChannel:
    most: Final = MAX_UNITS
    files: Final = FileLimits(16_000_000, 100_000_000, apart=True)
    keeps: Final = SendGuarantee.NOTHING
    knows_owner: Final = False  # the owner's chat is in the contacts, once it is paired
    counts_every_try: Final = False
    guidance: Final = (
        "Your deliverable will be sent by Telegram. Short paragraphs; **bold**, lists and `code` "
        "are shown, tables and headings hardly. Keep it under 3000 characters."
    )

    def __init__(
        self,
        api: BotApi,
        clock: Clock,
        db: Database | None = None,
        *,
        name: str = "telegram",
        patience: float = SEND_SECONDS,
    ) -> None:
        self.name: Final = name
        self.api: Final = api
        self._clock = clock
        self._db = db
        self._patience = patience
        self._pace = SendRate(_PAIR_SECONDS, _OVERALL, name=name, rates=Rates(db))

    async def close(self) -> None:
        await self.api.close()

    def takes(self, address: str) -> bool:
        return chat_of(address) is not None

    def shape(self, text: str) -> str:
        """Return the text as it is: its Markdown becomes entities when it is sent."""
        return text

    def parts(self, shaped: str) -> tuple[str, ...]:
        """Return the exact messages that a text is sent as."""
        return split(shaped)

    async def takes_buttons(self, address: str | None, text: str) -> bool:
        return address is not None and units(text) <= MAX_UNITS

    async def send(self, parcel: Parcel) -> Answer:
        """Send the body once, if the rate allows it. It never waits and never retries."""
        chat, wrong = chat_of(parcel.recipient or ""), _wrong(parcel, self.name)
        if wrong is not None or chat is None:
            return Refused(wrong or "")
        try:
            now_at = await self.current_chat(chat)
        except Exception as error:  # noqa: BLE001 - no byte has left, and that must not be in doubt
            return SendRetry(f"Telegram cannot be used at the moment ({type(error).__name__}).")
        wait = await self._pace.take(str(now_at), parcel.key, self._clock.now())
        if wait > 0:
            return SendRetry("It is too soon for the next message by Telegram.", wait, spends=False)
        if parcel.files:
            reply = await self.api.send_file(
                "sendDocument", {"chat_id": str(now_at)}, parcel.files[0], self._patience
            )
        else:
            reply = await self.post(now_at, render(parcel.body), parcel.buttons)
        if isinstance(reply, BotReply) and reply.moved_to is not None and chat < 0:
            await self.move(chat, reply.moved_to)
            why = "The group has a new address at Telegram; it goes there."
            return SendRetry(why, 0.0, spends=False)
        return answer_of(reply, now_at, self._clock.now())

    async def fetch_file(self, ident: str, most: int) -> bytes | None:
        return await self.api.fetch_file(ident, most)

    async def post(
        self,
        chat: int,
        text: MarkedText,
        buttons: Sequence[ActionButton] = (),
        *,
        reply_to: int | None = None,
        asks_for_text: bool = False,
        silent: bool = False,
    ) -> BotAnswer:
        """One call: a message to a chat."""
        fields: dict[str, object] = {"chat_id": chat, **_text_fields(text)}
        if silent:
            fields["disable_notification"] = True
        if reply_to is not None:
            fields["reply_parameters"] = {
                "message_id": reply_to,
                "allow_sending_without_reply": True,
            }
        if buttons or asks_for_text:
            fields["reply_markup"] = _keyboard(buttons) if buttons else {"force_reply": True}
        return await self.api.call("sendMessage", fields, self._patience)

    async def edit(self, chat: int, message: int, text: MarkedText) -> BotAnswer:
        """Replace the text of a message of ours, and take its buttons away."""
        fields = {"chat_id": chat, "message_id": message, **_text_fields(text)}
        return await self.api.call("editMessageText", fields, self._patience)

    # Groups that became supergroups -------------------------------------------------------------

    async def current_chat(self, chat: int) -> int:
        """Return the current id of a paired chat; a group that grew has another one."""
        stored = await self._db.read(meta.get, self._moved_chat_key(chat)) if self._db else None
        return int(stored) if stored else chat

    async def paired_chat(self, chat: int) -> int:
        """The id under which a chat was paired."""
        moved = (
            await self._db.read(meta.starting_with, self._moved_chat_key("")) if self._db else {}
        )
        return next((int(old) for old, new in moved.items() if new == str(chat)), chat)

    async def move(self, chat: int, to: int) -> None:
        """Note the new id; the address in the contacts, and so every approval, stays."""
        if self._db is not None and to != chat:
            await self._db.write(
                meta.put, self._moved_chat_key(await self.paired_chat(chat)), str(to)
            )

    def _moved_chat_key(self, chat: int | str) -> str:
        return f"telegram:{self.name}:moved:{chat}"


def _text_fields(text: MarkedText) -> Mapping[str, object]:
    return {
        "text": text.text,
        "entities": list(text.entities),
        "link_preview_options": {"is_disabled": True},
    }


def _keyboard(buttons: Sequence[ActionButton]) -> Mapping[str, object]:
    keys = [{"text": each.label, "callback_data": each.data} for each in buttons]
    rows = [keys[n : n + _IN_A_ROW] for n in range(0, len(keys), _IN_A_ROW)]
    return {"inline_keyboard": rows}


def _wrong(parcel: Parcel, name: str) -> str | None:
    """Why a parcel cannot be sent at all, in a sentence."""
    if parcel.recipient is None:
        return _NO_OWNER.format(name)
    if chat_of(parcel.recipient) is None:
        no_address = f"{parcel.recipient!r:.60} is no Telegram address; one looks like"
        return f"{no_address} {address_of(123456789)}. `remit channels pair` finds it."
    if parcel.files:  # each is a message of its own, without words
        return None if len(parcel.files) == 1 and not parcel.body else _ONE_FILE
    body, length = parcel.body, units(parcel.body)
    if length > MAX_UNITS:
        return f"The text has {length} characters; a message takes {MAX_UNITS}. Send it in parts."
    return http_client.unfit(body, MAX_UNITS)
