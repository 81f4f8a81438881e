"""The results of one exchange with a model."""

from typing import Generic, Protocol, TypeVar

from msgspec import Struct

from remit.model.reply import Prompt, Reply, Usage
from remit.ports import OnText

T = TypeVar("T")


class FilledForm(Struct, Generic[T], frozen=True):
    """A form, filled in and valid."""

    form: T
    usage: Usage


class ModelConnection(Protocol):
    """An open connection to a model."""

    async def say(self, prompt: Prompt, session: str, on_text: OnText | None) -> Reply: ...

    async def fill(self, prompt: Prompt, form: type[T], session: str) -> FilledForm[T] | Reply: ...

    async def close(self) -> None: ...
