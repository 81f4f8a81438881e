"""What an exchange with a model comes to."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar

from remit.model.reply import Prompt, Reply, Usage

T = TypeVar("T")

OnText: TypeAlias = Callable[[str], Awaitable[None]]  # is given each piece of text as it comes


@dataclass(frozen=True, slots=True)
class Turn:
    """A reply, and the run that led to it as JSON, to be handed back with the next turn.

    The state is empty if nothing was said that a later turn should know.
    """

    reply: Reply
    state: str = ""


@dataclass(frozen=True, slots=True)
class Filled(Generic[T]):
    """A form, filled in as its type demands."""

    form: T
    usage: Usage


class Line(Protocol):
    """An open line to a model."""

    async def say(
        self, prompt: Prompt, session: str, earlier: Sequence[str], on_text: OnText | None
    ) -> Turn: ...

    async def fill(self, prompt: Prompt, form: type[T], session: str) -> Filled[T] | Reply: ...

    async def close(self) -> None: ...
