"""A brain backed by a language model of any vendor.

The vendors' libraries take seconds to load. They are loaded with the first request, in a thread, so
that only a process that asks a model pays for them.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar

from msgspec.structs import replace

from remit.brain import price
from remit.brain.choose import ModelChoice, ModelConfig, ModelLimits, ModelRole
from remit.brain.turn import FilledForm, ModelConnection
from remit.model.reply import Ask, Prompt, Reply, Usage
from remit.model.status import Reason
from remit.ports import OnText

T = TypeVar("T")

Dial: TypeAlias = Callable[[ModelConfig, ModelLimits], Awaitable[ModelConnection]]  # connects


class ModelBrain:
    """Implements `ports.Brain` with the model chosen for a role.

    It keeps no state: earlier states are passed in, and the new one is returned.
    """

    def __init__(
        self, choice: ModelChoice, role: ModelRole = ModelRole.THINK, dial: Dial | None = None
    ) -> None:
        self._choice = choice
        self._role = role
        self._dial = dial or _dial
        self._open: ModelConnection | None = None
        self._loading = asyncio.Lock()
        self._others: list[ModelBrain] = []

    def as_role(self, role: ModelRole) -> "ModelBrain":
        """Return the same choice of models for another role; it closes together with this one."""
        self._others.append(ModelBrain(self._choice, role, self._dial))
        return self._others[-1]

    @property
    def ready(self) -> bool:
        """Whether a model was found."""
        return self._role in self._choice.models

    @property
    def label(self) -> str:
        """The model's vendor and name, for people; empty without a model."""
        model = self._choice.models.get(self._role)
        return str(model) if model else ""

    @property
    def has_tools(self) -> bool:
        """Whether tools should be offered to it."""
        model = self._choice.models.get(self._role)
        return model is not None and model.has_tools

    @property
    def metered(self) -> bool:
        """Whether its requests cost something: without a model nothing is asked."""
        return self.ready

    async def estimate(self, prompt: Prompt) -> Usage:
        """Return what a request may cost at most; money only if the price is known."""
        answer = self._choice.limits.tokens
        usage = price.reckon(prompt, answer)
        model = self._choice.models.get(self._role)
        if model is None:
            return usage
        await self._line(model)  # loads the price table
        return replace(usage, cents=price.cents(model, usage.tokens - answer, answer))

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        return await self._say(prompt, session, None)

    async def think_aloud(self, prompt: Prompt, *, session: str, on_text: OnText) -> Reply:
        return await self._say(prompt, session, on_text)

    async def _say(self, prompt: Prompt, session: str, on_text: OnText | None) -> Reply:
        model = self._choice.models.get(self._role)
        if model is None:
            return self._lacking()
        line = await self._line(model)
        return await line.say(prompt, session, on_text)

    async def fill(self, prompt: Prompt, form: type[T], *, session: str) -> FilledForm[T] | Reply:
        """Have a form (a dataclass or a pydantic model) filled in, or return why not."""
        model = self._choice.models.get(self._role)
        if model is None:
            return self._lacking()
        line = await self._line(model)
        return await line.fill(prompt, form, session)

    async def close(self) -> None:
        """Disconnect. A later request would open a new connection."""
        line, self._open = self._open, None
        if line is not None:
            await line.close()
        for other in self._others:
            await other.close()

    def _lacking(self) -> Reply:
        lacks = self._choice.lacks[self._role]
        question = f"This needs a language model. {lacks} Then it goes on by itself."
        return Reply("", ask=Ask(Reason.AUTH, question))

    async def _line(self, model: ModelConfig) -> ModelConnection:
        async with self._loading:
            if self._open is None:
                self._open = await self._dial(model, self._choice.limits)
            return self._open


async def _dial(model: ModelConfig, limits: ModelLimits) -> ModelConnection:
    return await asyncio.to_thread(_connect, model, limits)


def _connect(model: ModelConfig, limits: ModelLimits) -> ModelConnection:
    from remit.brain.talk import SharedModelConnection  # noqa: PLC0415 - see above: takes seconds

    return SharedModelConnection(model, limits)
