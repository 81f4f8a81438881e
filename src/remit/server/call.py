"""What a request brings, what it is answered, and a row of the table of routes."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias, TypeVar

from pydantic import BaseModel

from remit.errors import BadInput
from remit.model import ids
from remit.model.codec import Json, JsonMap
from remit.model.ids import ReviewId, TaskId
from remit.model.task import Task
from remit.model.view import View, show
from remit.server import bodies
from remit.server.problem import Problem, Refused
from remit.wiring import House

W = TypeVar("W", bound=StrEnum)
M = TypeVar("M", bound=BaseModel)
Id = TypeVar("Id", TaskId, ReviewId)

UNSAFE: Final = frozenset({"POST", "PATCH", "DELETE"})
_NUMBER: Final = re.compile(r"[0-9]{1,15}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request that has come through the door."""

    house: House
    path: Mapping[str, str]
    query: Mapping[str, Sequence[str]]
    body: bytes
    ref: str  # names this request: what is done under it once is not done again
    view: View = View.S3
    signature: str | None = None  # of the body, by a provider that holds no token of ours

    @property
    def task_id(self) -> TaskId:
        return _known(ids.task_id, self.path["id"])

    @property
    def review_id(self) -> ReviewId:
        return _known(ids.review_id, self.path["id"])

    def read(self, kind: type[M]) -> M:
        """The body, as what it must be."""
        return bodies.read(kind, self.body)

    def text(self, name: str) -> str | None:
        return self.query[name][0] if name in self.query else None

    def word(self, name: str, kind: type[W]) -> W | None:
        said = self.text(name)
        try:
            return None if said is None else kind(said)
        except ValueError:
            raise _not_a_word(name, said, kind) from None

    def words(self, name: str, known: Mapping[str, Sequence[W]]) -> tuple[W, ...]:
        """Each word may stand for several of ours."""
        for said in self.query.get(name, ()):
            if said not in known:
                raise _not_a_word(name, said, known)
        return tuple(ours for said in self.query.get(name, ()) for ours in known[said])

    def number(self, name: str, default: int, *, least: int = 0, most: int = 10**15) -> int:
        said = self.text(name)
        if said is None:
            return default
        if not _NUMBER.fullmatch(said) or not least <= int(said) <= most:
            sentence = f"{name} must be a whole number from {least} to {most}, not {said!r:.60}."
            raise BadInput(sentence, field=name)
        return int(said)

    def flag(self, name: str) -> bool:
        return self.word(name, _Flag) is _Flag.TRUE


@dataclass(frozen=True, slots=True)
class Answer:
    content: Json  # plain text, if it is a text
    status: int = 200
    location: str | None = None
    replayed: bool = False


def task_answer(call: Call, task: Task) -> Answer:
    return Answer(show(task, call.view))


def created(call: Call, task: Task) -> Answer:
    return Answer(show(task, call.view), 201, f"/api/tasks/{task.id}")


Does: TypeAlias = Callable[[Call], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Query:
    """A parameter of a query, as it is documented."""

    name: str
    says: str
    schema: JsonMap
    many: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One row of the table: what it does, and all that the documentation must say about it."""

    method: str
    path: str
    does: Does
    says: str
    gives: str  # the schema of its answer
    status: int = 200
    also: int | None = None  # another way to succeed, with the same answer
    query: tuple[Query, ...] = ()
    body: type[BaseModel] | None = None
    public: bool = False  # needs no token


VIEW: Final = Query("view", "In whose words.", {"enum": ["s3", "s4"], "default": "s3"})


def numbers(name: str, says: str, default: int, least: int, most: int) -> Query:
    schema: JsonMap = {"type": "integer", "minimum": least, "maximum": most, "default": default}
    return Query(name, says, schema)


class _Flag(StrEnum):
    TRUE = "true"
    FALSE = "false"


def _known(read: Callable[[str], Id], text: str) -> Id:
    """An address with an id that cannot be one leads nowhere."""
    try:
        return read(text)
    except BadInput as bad:
        raise Refused(Problem("not-found", str(bad))) from None


def _not_a_word(
    name: str, said: str | None, known: type[StrEnum] | Mapping[str, object]
) -> BadInput:
    return BadInput(f"{name} is {said!r:.60}; it may be {', '.join(known)}.", field=name)
