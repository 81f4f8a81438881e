"""One call of Telegram's Bot API, and what its answer means.

The token is part of every address, so no address and no library's error text is ever shown.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from typing import Final

from msgspec import Struct

from remit.errors import BadInput
from remit.model.codec import JsonMap
from remit.model.delivery import Accepted, Answer, Locked, Refused, SendRetry, Unknown
from remit.model.task_file import FileContent
from remit.system import http_client
from remit.system.http_client import HttpFailure, HttpReply, Token

DEFAULT_URL: Final = "https://api.telegram.org"
SEND_SECONDS: Final = 60.0  # for a whole exchange, less than the courier's limit
_TOKEN: Final = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]{20,100}")
_URL: Final = re.compile(r"https://[a-z0-9.-]+(?::[0-9]{1,5})?|http://127\.0\.0\.1:[0-9]{1,5}")
_FILE_PATH: Final = re.compile(r"[A-Za-z0-9_./-]{1,300}")
_ADDRESS: Final = re.compile(r"(-?[1-9][0-9]{0,18})@telegram")
_UNSET: Final = (
    "The token of the Telegram bot is missing or is no token. @BotFather gives it to you; keep it "
    "with `remit secrets set`."
)
REVOKED: Final = (
    "Telegram does not take the token of the bot any more. Get a new one from @BotFather, and keep "
    "it with `remit secrets set`."
)
_FORBIDDEN: Final[Mapping[str, str]] = {  # by what Telegram says
    "blocked by the user": "This person has blocked the bot. Ask them to unblock it.",
    "user is deactivated": "This person's Telegram account was deleted.",
    "kicked": "The bot was removed from this group. Add it again.",
    "not a member": "The bot is not in this group. Add it.",
    "initiate conversation": "This person has not started the bot yet. Ask them to press Start.",
    "chat not found": "Telegram does not know this chat. Connect it with `remit channels pair`.",
}


class BotReply(Struct, frozen=True):
    """What the Bot API answered. `said` is cleaned of the token."""

    ok: bool
    result: object = None
    code: int = 200
    said: str = ""
    retry_after: float | None = None
    moved_to: int | None = None  # the new id of a group that became a supergroup


class NoToken(Struct, frozen=True):
    """Nothing was asked: the secret is missing or has another form."""


BotAnswer = BotReply | HttpReply | HttpFailure | NoToken


@dataclass(frozen=True, slots=True)
class BotAddress:
    token: Token = field(repr=False)
    url: str = DEFAULT_URL

    def __post_init__(self) -> None:
        if not _URL.fullmatch(self.url):
            sentence = f"The address {self.url!r:.60} must be https, such as {DEFAULT_URL}."
            raise BadInput(sentence, field="url")


class BotApi:
    """Calls methods of one bot, each once."""

    def __init__(self, bot: BotAddress) -> None:
        self._bot = bot
        self._client = http_client.open_client(bot.url)

    async def close(self) -> None:
        await self._client.aclose()

    async def call(
        self,
        method: str,
        fields: Mapping[str, object],
        seconds: float = SEND_SECONDS,
        max_bytes: int = http_client.MAX_ANSWER_BYTES,
    ) -> BotAnswer:
        token = self._bot.token()
        if not _TOKEN.fullmatch(token):
            return NoToken()
        url = f"{self._bot.url}/bot{token}/{method}"
        reply = await http_client.post(self._client, url, "", fields, seconds, max_bytes)
        return reply if isinstance(reply, HttpFailure) else _reply(reply, token)

    async def send_file(
        self, method: str, fields: Mapping[str, str], file: FileContent, seconds: float
    ) -> BotAnswer:
        """One call that carries a file."""
        token = self._bot.token()
        if not _TOKEN.fullmatch(token):
            return NoToken()
        kind, body = http_client.form_with_file(
            fields, "document", file.name, file.type, file.content
        )
        url = f"{self._bot.url}/bot{token}/{method}"
        reply = await http_client.post_bytes(
            self._client, url, {"content-type": kind}, body, seconds
        )
        return reply if isinstance(reply, HttpFailure) else _reply(reply, token)

    async def fetch_file(self, file_id: str, most: int) -> bytes | None:
        """Return the content of a file that somebody sent; None if it cannot be had."""
        found = await self.call("getFile", {"file_id": file_id})
        fields = found.result if isinstance(found, BotReply) and found.ok else None
        path = fields.get("file_path") if isinstance(fields, dict) else None
        if not isinstance(path, str) or not _FILE_PATH.fullmatch(path) or ".." in path:
            return None
        url = f"{self._bot.url}/file/bot{self._bot.token()}/{path}"
        return await http_client.get_bytes(self._client, url, {}, SEND_SECONDS, most)


def address_of(chat: int) -> str:
    """The address of a chat in the contacts: no telephone number or mail address looks like it."""
    return f"{chat}@telegram"


def chat_of(address: str) -> int | None:
    """The id of a chat by its address; None if it is none."""
    found = _ADDRESS.fullmatch(address)
    return int(found[1]) if found else None


def answer_of(reply: BotAnswer, chat: int, now: datetime) -> Answer:
    """What became of a message: only `ok` with its id is a yes, and only a 4xx is a no."""
    if isinstance(reply, NoToken):
        return Locked(_UNSET)
    if not isinstance(reply, BotReply):
        return http_client.named(reply, "Telegram", now, None)  # not in the form of the Bot API
    if reply.ok:
        number = number_of(reply.result, "message_id")
        named = Accepted(f"{chat}:{number}")
        return named if number is not None else Unknown("Telegram took it and named no message.")
    return _refused(reply)


def _refused(reply: BotReply) -> SendRetry | Refused | Locked | Unknown:
    why = f"({reply.code}: {reply.said})"
    match reply.code:
        case HTTPStatus.TOO_MANY_REQUESTS:
            wait = f"Telegram asks for patience {why}."
            return SendRetry(wait, reply.retry_after, spends=False)
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.NOT_FOUND:
            return Locked(REVOKED)
        case HTTPStatus.BAD_REQUEST | HTTPStatus.FORBIDDEN:
            known = (says for words, says in _FORBIDDEN.items() if words in reply.said.lower())
            return Refused(f"{next(known, 'Telegram refused the message.')} {why}")
        case code if code // 100 == HTTPStatus.BAD_REQUEST // 100:
            return Refused(f"Telegram refused the message {why}.")
        case _:
            return Unknown(f"Telegram answered {reply.code}, which says neither yes nor no.")


async def check(token: str, url: str) -> JsonMap:
    """What the settings need to know of a bot; BadInput if the token is not one."""
    bot = BotApi(BotAddress(lambda: token, url or DEFAULT_URL))
    try:
        reply = await bot.call("getMe", {})
    finally:
        await bot.close()
    if isinstance(reply, NoToken):
        sentence = "This is no token of a bot: it looks like 123456:ABC… and comes from @BotFather."
        raise BadInput(sentence, field="token")
    result = reply.result if isinstance(reply, BotReply) else None
    name = result.get("username") if isinstance(result, dict) else None
    if isinstance(name, str) and re.fullmatch(r"\w{3,64}", name):
        return {"bot": name, "url": url} if url else {"bot": name}
    if isinstance(reply, BotReply) and not reply.ok:
        raise BadInput(
            f"Telegram does not know this token ({reply.code}: {reply.said}).", field="token"
        )
    raise BadInput("Telegram could not be asked about this token. Try again later.", field="token")


def _reply(reply: HttpReply, token: str) -> BotReply | HttpReply:
    fields = http_client.fields_of(reply.body)
    if fields.get("ok") is True and reply.status == HTTPStatus.OK:
        return BotReply(ok=True, result=fields.get("result"))
    code = fields.get("error_code")
    if fields.get("ok") is not False or not isinstance(code, int):
        return reply
    more = fields.get("parameters")
    wait = number_of(more, "retry_after")
    return BotReply(
        ok=False,
        code=code,
        said=http_client.clean(fields.get("description"), token),
        retry_after=None if wait is None else float(max(wait, 0)),
        moved_to=number_of(more, "migrate_to_chat_id"),
    )


def number_of(some: object, name: str) -> int | None:
    """Return a whole number in an answer; None if there is none."""
    found = some.get(name) if isinstance(some, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) else None
