"""WhatsApp over the Cloud API: one message per call, sent once.

The provider has no idempotency key and no way to look up a message. So an unknown delivery stays
unknown until a report comes in through the webhook; the report carries the key that was sent with
the message.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Final, TypeAlias

from remit.channels import ChannelContext, parts
from remit.channels.parts import SendRate
from remit.channels.whatsapp import WhatsAppLine, cloud_api
from remit.channels.whatsapp.cloud_api import answer_of_code, free_message, is_known_code
from remit.errors import BadInput
from remit.model.delivery import (
    Accepted,
    Answer,
    Locked,
    Parcel,
    Refused,
    SendGuarantee,
    SendRetry,
    Unknown,
)
from remit.model.task_file import FileLimits
from remit.ports import Clock
from remit.store import cues
from remit.store.spending import Rates
from remit.system import http_client
from remit.system.http_client import HttpFailure, HttpReply, Token

MAX_CHARACTERS: Final = 4096
SEND_SECONDS: Final = 60.0  # seconds for a whole exchange, less than the courier's limit
WINDOW: Final = timedelta(hours=24)
_MARGIN: Final = timedelta(minutes=1)  # a message on its way must not find the window closed
_CLIENT_ERROR: Final = 4  # the first digit of an error status
_KEY: Final = re.compile(r"[\x21-\x7e]{1,512}")  # the provider does not return more
_NUMBER: Final = re.compile(r"[1-9][0-9]{6,14}")
_WRITTEN: Final = re.compile(r"\+[0-9]+(?:[ -][0-9]+)*")  # as people write a number
_USER_ID: Final = re.compile(r"[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}")
_URL: Final = re.compile(r"https://[a-z0-9.-]+(?::[0-9]{1,5})?/v[0-9]{1,3}\.[0-9]")
_NEAR_URL: Final = re.compile(r"http://127\.0\.0\.1:[0-9]{1,5}/v[0-9]{1,3}\.[0-9]")
_BREAKS: Final = re.compile(r"[ \t]*[\n\r\t]\s*| {5,}")  # what no template accepts
_FILE_ID: Final = re.compile(r"[A-Za-z0-9_.:-]{1,200}")
_FILE_HOST: Final = re.compile(r"https://[a-z0-9.-]+\.(?:fbsbx\.com|facebook\.com|whatsapp\.net)/")
_MAX_BUTTON_TEXT: Final = 1024  # characters over buttons
PLACEHOLDER: Final = "{text}"  # placeholder for the text in a template's parameters

Request: TypeAlias = Mapping[str, object]
LastInbound: TypeAlias = Callable[[str], Awaitable[datetime | None]]  # by send address


def build(section: WhatsAppLine, context: ChannelContext) -> "WhatsAppChannel":
    async def last_at(address: str) -> datetime | None:
        return await context.db.read(cues.last_at, context.name, address) if context.db else None

    token, rates = context.keys.token(section.token), Rates(context.db)
    return WhatsAppChannel(section, token, context.clock, last_at, name=context.name, rates=rates)


def _check(line: WhatsAppLine) -> None:
    """Refuse settings that no message could be sent with."""
    name, language, values = line.template, line.language, line.template_parameters
    if name and not re.fullmatch(r"[a-z0-9_]{1,512}", name):
        sentence = f"The template {name!r:.60} cannot be one: lower-case letters, digits and _."
        raise BadInput(sentence, field="template")
    if name and not re.fullmatch(r"[a-z]{2,3}(?:_[A-Z]{2})?", language):
        sentence = f"The language {language!r:.60} is none of a template; write it like en_US."
        raise BadInput(sentence, field="language")
    if name and (sum(each.count(PLACEHOLDER) for each in values) != 1 or not all(values)):
        sentence = (
            f"The parameters of a template must hold {PLACEHOLDER} once and have no empty one"
        )
        example = f'; write them like ["Nina", "{PLACEHOLDER}"].'
        raise BadInput(sentence + example, field="template_parameters")
    if name and not 1 <= line.template_limit <= MAX_CHARACTERS:
        raise BadInput(f"template_limit must be 1 to {MAX_CHARACTERS}.", field="template_limit")
    if not re.fullmatch(r"[0-9]{1,32}", line.number_id):
        sentence = f"The phone number id {line.number_id!r:.60} must be digits alone; it stands"
        where = "beside the number in the app's WhatsApp settings."
        raise BadInput(f"{sentence} {where}", field="number_id")
    if not (_URL.fullmatch(line.url) or _NEAR_URL.fullmatch(line.url)):
        sentence = f"The address {line.url!r:.60} must be https and end with a version, like"
        raise BadInput(f"{sentence} https://graph.facebook.com/v25.0.", field="url")
    if line.owner and not is_address(line.owner):
        raise BadInput(_no_address(line.owner), field="owner")


class WhatsAppMessages:
    """The base of both WhatsApp channels: form of a message, owner, client."""

    counts_every_try: Final = False
    most: Final = MAX_CHARACTERS
    guidance: Final = (
        "Your deliverable will be sent by WhatsApp. Plain text only, *bold* sparingly. Keep it "
        "under 2000 characters. No markdown headings, code blocks, tables or bullet dashes."
    )

    def __init__(self, name: str, url: str, owner: str, clock: Clock) -> None:
        self.name: Final = name
        self._owner = owner or None
        self._clock = clock
        self._client = http_client.open_client(url)

    @property
    def knows_owner(self) -> bool:
        return self._owner is not None

    async def close(self) -> None:
        await self._client.aclose()

    def shape(self, text: str) -> str:
        """Return the text as WhatsApp shows it: its own marks instead of Markdown."""
        return cloud_api.message_text(text)

    def parts(self, shaped: str) -> tuple[str, ...]:
        """Return the exact messages that a shaped text is sent as."""
        return parts.split(shaped, MAX_CHARACTERS)

    def _recipient(self, parcel: Parcel) -> str | None:
        to = parcel.recipient if parcel.recipient is not None else self._owner
        return digits(to) if to is not None else None


class WhatsAppChannel(WhatsAppMessages):
    files: Final = FileLimits(16_000_000, 100_000_000, apart=True)
    keeps: Final = SendGuarantee.NOTHING
    grace: Final = 900.0  # seconds in which a report settles what is in doubt

    def __init__(  # noqa: PLR0913 - each is handed in by name
        self,
        line: WhatsAppLine,
        token: Token,
        clock: Clock,
        last_inbound_at: LastInbound,
        *,
        name: str = "whatsapp",
        patience: float = SEND_SECONDS,
        rates: Rates | None = None,
    ) -> None:
        _check(line)
        super().__init__(name, line.url, line.owner, clock)
        self._line = line
        self._token = http_client.hidden(token)
        self._last_inbound_at = last_inbound_at
        self._patience = patience
        self._pace = SendRate(name=name, rates=rates)

    def takes(self, address: str) -> bool:
        return is_address(address)

    async def takes_buttons(self, address: str | None, text: str) -> bool:
        """Whether WhatsApp takes buttons now: within the window, under a short text."""
        to = address or self._owner
        if to is None or len(text) > _MAX_BUTTON_TEXT:
            return False
        return await self._free_text(digits(to), self._clock.now())

    async def send(self, parcel: Parcel) -> Answer:
        """Send the body as it is, once the request is complete and the rate allows it.

        It never waits and never retries.
        """
        now = self._clock.now()
        ready = await self._prepare_message(parcel, now)
        if not isinstance(ready, _Ready):
            return ready
        wait = await self._pace.take(ready.to, parcel.key, now)
        if wait > 0:
            return SendRetry("It is too soon for the next message by WhatsApp.", wait, spends=False)
        url = f"{self._line.url}/{self._line.number_id}/messages"
        reply = await http_client.post(
            self._client, url, ready.token, ready.request, self._patience
        )
        return _answer(reply, ready.token, now)

    async def upload(self, parcel: Parcel) -> tuple[str, ...] | Answer:
        """Give the file to WhatsApp, which names it; the message that carries it is sent later."""
        token, now = self._token(), self._clock.now()
        if not http_client.is_header_safe(token):
            return Locked(_UNSET)
        if len(parcel.files) != 1 or parcel.body:
            return Refused("A file goes by WhatsApp as a message of its own, without other words.")
        file, url = parcel.files[0], f"{self._line.url}/{self._line.number_id}/media"
        fields = {"messaging_product": "whatsapp", "type": file.type}
        kind, body = http_client.form_with_file(fields, "file", file.name, file.type, file.content)
        headers = {"content-type": kind, "authorization": f"Bearer {token}"}
        reply = await http_client.post_bytes(self._client, url, headers, body, self._patience)
        content = reply.body if isinstance(reply, HttpReply) else None
        ident = http_client.fields_of(content).get("id")
        if isinstance(ident, str) and _FILE_ID.fullmatch(ident):
            return (ident,)
        answer = _answer(reply, token, now)
        # Nobody got anything, so what is unclear may be repeated.
        unclear = isinstance(answer, Unknown | Accepted)
        return SendRetry("WhatsApp did not take the file.") if unclear else answer

    async def fetch_file(self, ident: str, most: int) -> bytes | None:
        """Return the content of a file that somebody sent; None if it cannot be had."""
        root, headers = self._line.url, {"authorization": f"Bearer {self._token()}"}
        if not _FILE_ID.fullmatch(ident):
            return None
        get = partial(http_client.get_bytes, self._client)
        limit = http_client.MAX_ANSWER_BYTES
        about = await get(f"{root}/{ident}", headers, self._patience, limit)
        place = http_client.fields_of(about).get("url")
        # The token goes along, so the address must be Meta's own, or the one that we call.
        near = root.startswith("http://127.0.0.1") and str(place).startswith(root)
        if not isinstance(place, str) or not (near or _FILE_HOST.match(place)):
            return None
        return await get(place, headers, self._patience, most)

    async def refuses_files(self, address: str | None) -> str | None:
        """Return why this person can be sent no file now."""
        to = address or self._owner
        free = to is not None and await self._free_text(digits(to), self._clock.now())
        return None if free else _NO_FILE

    async def find(self, parcel: Parcel) -> None:  # noqa: ARG002 - as every channel has it
        """Return None: only a report says what became of a message."""
        return

    async def _prepare_message(
        self, parcel: Parcel, now: datetime
    ) -> "_Ready | SendRetry | Refused | Locked":
        to = self._recipient(parcel)
        wrong = _wrong(parcel, to)
        if wrong is not None or to is None:
            return Refused(wrong or _NO_OWNER)
        try:
            free_text, token = await self._free_text(to, now), self._token()
        except Exception as error:  # noqa: BLE001 - no byte has left, and that must not be in doubt
            return SendRetry(f"WhatsApp cannot be used at the moment ({type(error).__name__}).")
        if not http_client.is_header_safe(token):
            return Locked(_UNSET)
        if parcel.uploads and not free_text:
            return Refused(_NO_FILE)
        request = _request(parcel, to, free_text, self._line)
        return request if isinstance(request, Refused) else _Ready(to, request, token)

    async def _free_text(self, to: str, now: datetime) -> bool:
        """Whether the person wrote recently enough to get free text."""
        last = await self._last_inbound_at(to)
        return last is not None and now - last < WINDOW - _MARGIN


@dataclass(frozen=True, slots=True)
class _Ready:
    """A request that only waits for the rate limit."""

    to: str
    request: Request
    token: str = field(repr=False)


_UNSET: Final = "The access token of WhatsApp is missing or no token at all. Set it."
_NO_FILE: Final = (
    "This person has not written to us in the last 24 hours, so WhatsApp takes no file. Ask them "
    "to write first, or take out the lines that name a file."
)
_NO_OWNER: Final = "The owner has no WhatsApp address. Name one in the settings of the channel."


def is_address(text: str) -> bool:
    """Whether a text is a number with country code, or a user id such as IL.1349120865."""
    return bool(_NUMBER.fullmatch(digits(text)) or _USER_ID.fullmatch(text))


def digits(text: str) -> str:
    """Return a number as sent; text that is not like +49 151 234-567 stays."""
    return re.sub("[+ -]", "", text) if _WRITTEN.fullmatch(text) else text


def _no_address(text: str) -> str:
    return (
        f"{text!r:.60} is no WhatsApp address. "
        "Write the number with its country code in digits alone, or a user id like IL.1349120865."
    )


def _wrong(parcel: Parcel, to: str | None) -> str | None:
    """Return why a parcel cannot be sent at all, in a sentence."""
    if to is not None and not is_address(to):
        return _no_address(to)
    if not _KEY.fullmatch(parcel.key):
        return "The key of a delivery must have 1 to 512 plain characters."
    return None if parcel.uploads else http_client.unfit(parcel.body, MAX_CHARACTERS)


def _request(parcel: Parcel, to: str, free_text: bool, section: WhatsAppLine) -> Request | Refused:
    frame: dict[str, object] = {
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        "to" if _NUMBER.fullmatch(to) else "recipient": to,
        "biz_opaque_callback_data": parcel.key,
    }
    if free_text:
        return {**frame, **free_message(parcel)}
    if not section.template:
        return Refused(
            "This person has not written to us in the last 24 hours, so WhatsApp takes a template "
            "only, and none is set. Ask them to write first, or set a template."
        )
    line = _BREAKS.sub("  ", parcel.body.strip())
    if len(line) > section.template_limit:
        return Refused(
            "This person has not written to us in the last 24 hours, and the text has "
            f"{len(line)} characters; the template takes {section.template_limit}. Shorten it, ask "
            "them to write first, or raise template_limit if your template has a body alone."
        )
    texts = [each.replace(PLACEHOLDER, line) for each in section.template_parameters]
    filled = {
        "name": section.template,
        "language": {"code": section.language},
        "components": [
            {"type": "body", "parameters": [{"type": "text", "text": each} for each in texts]}
        ],
    }
    return {**frame, "type": "template", "template": filled}


def _answer(reply: HttpReply | HttpFailure, token: str, now: datetime) -> Answer:
    answer = _answer_of_code(reply, token, now) if isinstance(reply, HttpReply) else None
    if answer is not None:
        return answer
    body = reply.body if isinstance(reply, HttpReply) else None
    messages = http_client.fields_of(body).get("messages")
    first = messages[0] if isinstance(messages, list) and messages else None
    ref = first.get("id") if isinstance(first, dict) else None
    return http_client.answer_with_id(reply, "WhatsApp", now, ref)


def _answer_of_code(reply: HttpReply, token: str, now: datetime) -> Answer | None:
    """Return what an error code means, whatever the status; None if it says nothing.

    An unknown code is a no only if the status is one, too.
    """
    error = http_client.fields_of(reply.body).get("error")
    code = error.get("code") if isinstance(error, dict) else None
    if not isinstance(error, dict) or not isinstance(code, int):
        return None
    if not is_known_code(code) and reply.status // 100 != _CLIENT_ERROR:
        return None
    more = error.get("error_data")
    details = more.get("details") if isinstance(more, dict) else None
    text = http_client.clean(details or error.get("message"), token)
    return answer_of_code(code, text, http_client.wait_of(reply, now))
