"""Channels on loopback that outlive the sending Remit: two phones and a mail server."""

import asyncio
import threading
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Final, Self, TypeVar

from tests.channels.mail.mail import PostOffice
from tests.channels.whatsapp.whatsapp import BridgeProvider

T = TypeVar("T")
_LIMIT_SECONDS: Final = 100


class Providers:
    """What they accepted is what people would have received; it judges every test."""

    def __init__(self, *, phones: int = 2) -> None:
        self.phones = [BridgeProvider() for _ in range(phones)]
        self.office = PostOffice()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._stack = AsyncExitStack()

    def __enter__(self) -> Self:
        self._thread.start()
        self._do(self._open())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._do(self._stack.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def accepted(self) -> list[str]:
        """Return the id of each accepted delivery, as often as accepted."""
        texts = [str(message.key) for phone in self.phones for message in phone.accepted]
        names = (str(mail.parsed["Message-ID"]) for mail in self.office.accepted)
        return [*texts, *(name.strip("<>").partition("@")[0] for name in names)]

    def settings(self) -> str:
        """Return the channels for settings.toml: phone, phone2, ... and post."""
        numbers = ("", *range(2, len(self.phones) + 1))
        phones = (
            f'[channels.phone{n}]\nkind = "bridge"\nurl = "{phone.root}"\nowner = "972501234567"\n'
            for n, phone in zip(numbers, self.phones, strict=True)
        )
        post = f'[channels.post]\nkind = "email"\nhost = "127.0.0.1"\nport = {self.office.port}\n'
        return "".join(phones) + (
            f'{post}security = "none"\nsender = "nina@example.test"\nowner = "hanan@example.test"\n'
        )

    async def _open(self) -> None:
        await self._stack.enter_async_context(self.office)
        for each in self.phones:
            await self._stack.enter_async_context(each)

    def _do(self, work: Coroutine[object, object, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_LIMIT_SECONDS)
