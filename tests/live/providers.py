"""Channels on loopback that outlive the sending Remit: two phones, a mail server, a bot."""

from tests.channels.mail.mail import PostOffice
from tests.channels.telegram.bot_server import BotServer
from tests.channels.whatsapp.whatsapp import BridgeProvider
from tests.live.loopback import ServerThread
from tests.sections import mail_section, section


class Providers(ServerThread):
    """What they accepted is what people would have received; it judges every test."""

    def __init__(self, *, phones: int = 2) -> None:
        super().__init__()
        self.phones = [BridgeProvider() for _ in range(phones)]
        self.office = PostOffice()
        self.bot = BotServer()

    @property
    def accepted(self) -> list[str]:
        """Return the id of each accepted delivery, as often as accepted."""
        texts = [str(message.key) for phone in self.phones for message in phone.accepted]
        names = (str(mail.parsed["Message-ID"]) for mail in self.office.accepted)
        return [*texts, *(name.strip("<>").partition("@")[0] for name in names)]

    def settings(self) -> str:
        """Return the channels for settings.toml: phone, phone2, ... post and chat."""
        numbers = ("", *range(2, len(self.phones) + 1))
        phones = (
            section(f"channels.phone{n}", kind="bridge", url=phone.root, owner="972501234567")
            for n, phone in zip(numbers, self.phones, strict=True)
        )
        chat = section("channels.chat", kind="telegram", token="chat_token", url=self.bot.root)
        return "".join((chat, *phones, mail_section(self.office.port)))

    async def open(self) -> None:
        await self.entered(self.office)
        await self.entered(self.bot)
        for each in self.phones:
            await self.entered(each)
