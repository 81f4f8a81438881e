"""Telegram: a bot of the owner's, both ways, without a public address. Here: its section."""

from collections.abc import Mapping
from typing import ClassVar

from remit.channels import ChannelKind


class TelegramSettings(ChannelKind, frozen=True, kw_only=True):
    """A bot. `token` is the name of a secret; `bot` is the bot's name without the @."""

    kind: ClassVar[str] = "telegram"
    service: ClassVar[str] = "Telegram"
    built_by: ClassVar[str] = "remit.channels.telegram.sending"
    watched_by: ClassVar[str] = "remit.channels.telegram.polling"
    added_by: ClassVar[str] = "remit.channels.telegram.bot_api"
    answers_here: ClassVar[bool] = True
    promise: ClassVar[str] = (
        "Sends nothing twice without asking you. If the connection breaks while sending, you are "
        "asked."
    )

    secret_fields: ClassVar[tuple[str, ...]] = ("token",)
    asks: ClassVar[Mapping[str, tuple[str, str]]] = {
        "token": ("Token", "From @BotFather in Telegram: /newbot makes a bot and shows it."),
        "url": ("Address", "Only for a Bot API server of your own."),
    }

    token: str
    bot: str = ""
    url: str = "https://api.telegram.org"

    def ready(self, name: str) -> str:
        del name
        return "is connected with your chat"

    def door_problem(self, name: str, authserv_id: str) -> str:
        del name
        return "authserv_id is of mail; Telegram itself says who writes" if authserv_id else ""

    def pairing_link(self, code: str) -> str:
        return f"https://t.me/{self.bot}?start={code}" if self.bot else ""
