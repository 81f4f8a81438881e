"""Structured requests to a model outside the work on a task, paid from the day's budget."""

import hashlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

from remit.brain.budget import Budget, PaidRequest
from remit.brain.models import ModelBrain
from remit.brain.turn import FilledForm
from remit.model.reply import Prompt, Reply
from remit.ports import Clock

T = TypeVar("T")
P = TypeVar("P", bound=PaidRequest)


class PaidBrain:
    """Pays model requests that belong to no task. Over the day's budget it returns None."""

    def __init__(self, mind: ModelBrain, purse: Budget, clock: Clock) -> None:
        self._mind = mind
        self._purse = purse
        self._clock = clock

    async def think(self, prompt: Prompt, *, session: str) -> Reply | None:
        return await self._paid(prompt, lambda: self._mind.think(prompt, session=session))

    async def fill(self, prompt: Prompt, form: type[T], *, session: str) -> T | None:
        """Have a form filled in; None if the model did not."""
        filled = await self._paid(prompt, lambda: self._mind.fill(prompt, form, session=session))
        return filled.form if isinstance(filled, FilledForm) else None

    async def _paid(self, prompt: Prompt, think: Callable[[], Awaitable[P]]) -> P | None:
        told = f"{self._clock.now().isoformat()} {prompt.whole}"
        key = f"aside:{hashlib.sha256(told.encode()).hexdigest()}"
        estimate = await self._mind.estimate(prompt)
        return await self._purse.pay_for_all(key, estimate, think)


class ModelFormFiller:
    """Fills in a form for callers that know no prompts and sessions."""

    def __init__(self, mind: PaidBrain) -> None:
        self._mind = mind

    async def __call__(self, prompt: str, form: type[T], /) -> T | None:
        return await self._mind.fill(Prompt(prompt), form, session="read")
