"""A brain controlled by a test: it says what the test says, when the test says it."""

import asyncio
from typing import Final

from remit.errors import Permanent, Transient
from remit.model.codec import JsonMap
from remit.model.reply import Prompt, Reply, ToolCall
from remit.ports import OnText

_STATE: Final = "puppet"
_MOST: Final = 20  # requests at once


class Puppet:
    """Each request waits for words: some are streamed, the last one is the answer."""

    def __init__(self) -> None:
        self._words: asyncio.Queue[str | Reply | Exception] = asyncio.Queue()

    async def say(self, text: str) -> None:
        """Stream a line and continue."""
        self._words.put_nowait(text)

    async def use(self, tool: str, **args: str | int) -> None:
        """Call a tool, and continue with its result."""
        told: JsonMap = dict(args)
        call = ToolCall(f"call-{tool}", tool, told)
        self._words.put_nowait(Reply(f"I use {tool}.", calls=(call,), state=_STATE))

    async def answer(self, text: str) -> None:
        self._words.put_nowait(Reply(text))

    async def break_off(self, why: str) -> None:
        """Fail in a way that is retried."""
        self._words.put_nowait(Transient(why))

    async def give_up(self, why: str) -> None:
        """Fail for good."""
        self._words.put_nowait(Permanent(why))

    async def rest(self) -> None:
        """End all requests: an app can only be closed when none is waiting."""
        for _ in range(_MOST):
            self._words.put_nowait(Permanent("The play is over."))

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        return await self.think_aloud(prompt, session=session, on_text=_nobody)

    async def think_aloud(self, prompt: Prompt, *, session: str, on_text: OnText) -> Reply:
        del prompt, session
        while True:
            word = await self._words.get()
            if isinstance(word, Exception):
                raise word
            if isinstance(word, Reply):
                await on_text(word.text)
                return word
            await on_text(word + "\n")


async def _nobody(_: str) -> None:
    """Do nothing: nobody listens."""
