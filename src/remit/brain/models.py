"""A brain that is a language model, any vendor's.

The vendors' libraries take seconds to load. They are loaded with the first thought, beside the
event loop, so that nobody pays for them who does not think.
"""

import asyncio
from collections.abc import Sequence
from typing import TypeVar

from remit.brain.choose import Choice, Model, Role
from remit.brain.turn import Filled, Line, OnText, Turn
from remit.model.reply import Ask, Prompt, Reply
from remit.model.status import Reason

T = TypeVar("T")


class ModelBrain:
    """What `ports.Brain` promises, by the model that was chosen for a role.

    It keeps no state: what an earlier run left is handed in, what this one leaves is handed back.
    """

    def __init__(self, choice: Choice, role: Role = Role.THINK) -> None:
        self._choice = choice
        self._role = role
        self._open: Line | None = None
        self._loading = asyncio.Lock()

    @property
    def ready(self) -> bool:
        """Whether a model was found."""
        return self._role in self._choice.models

    async def think(self, prompt: Prompt, *, session: str, on_text: OnText | None = None) -> Reply:
        return (await self.turn(prompt, session=session, on_text=on_text)).reply

    async def turn(
        self,
        prompt: Prompt,
        *,
        session: str,
        earlier: Sequence[str] = (),
        on_text: OnText | None = None,
    ) -> Turn:
        """Think on from what earlier turns left, oldest first."""
        model = self._choice.models.get(self._role)
        if model is None:
            return Turn(self._lacking())
        line = await self._line(model)
        return await line.say(prompt, session, earlier, on_text)

    async def fill(self, prompt: Prompt, form: type[T], *, session: str) -> Filled[T] | Reply:
        """Have a form (a dataclass or a pydantic model) filled in, or be told why it is not."""
        model = self._choice.models.get(self._role)
        if model is None:
            return self._lacking()
        line = await self._line(model)
        return await line.fill(prompt, form, session)

    async def close(self) -> None:
        """Hang up. A later thought would open a new line."""
        line, self._open = self._open, None
        if line is not None:
            await line.close()

    def _lacking(self) -> Reply:
        lacks = self._choice.lacks[self._role]
        question = f"This needs a language model. {lacks} Then it goes on by itself."
        return Reply("", ask=Ask(Reason.AUTH, question))

    async def _line(self, model: Model) -> Line:
        async with self._loading:
            if self._open is None:
                self._open = await asyncio.to_thread(_connect, model, self._choice)
            return self._open


def _connect(model: Model, choice: Choice) -> Line:
    from remit.brain.talk import Talk  # noqa: PLC0415 - see above: seconds, for who thinks

    return Talk(model, choice.limits)
