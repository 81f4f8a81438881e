"""A request and its result, and the Idempotency-Key.

The same request twice under one key is done once: a successful answer is kept for a day and
returned again, a refused request frees its key. A process that dies in between leaves a reservation
with a ref, by which a repeat finds the stored result.
"""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, TypeVar

from msgspec import Struct, field

from remit.errors import BadInput, KeyReused, RemitError, StoreTrouble, UnknownName
from remit.model import ids
from remit.model.codec import Json
from remit.model.ids import ReviewId, SeriesId, TaskId
from remit.model.task_file import FileContent
from remit.operations.arguments import Arguments, ReviewArguments, SeriesArguments, TaskArguments
from remit.operations.operation import Answer, OperationRequest
from remit.ports import Clock
from remit.server import bodies
from remit.server.problem import RequestRefused
from remit.store import callers
from remit.store.callers import RequestKey, StoredReply
from remit.store.database import Database
from remit.wiring import App

W = TypeVar("W", bound=StrEnum)
M = TypeVar("M", bound=Struct)
A = TypeVar("A", bound=Arguments)
Id = TypeVar("Id", TaskId, ReviewId, SeriesId)

_NUMBER: Final = re.compile(r"[0-9]{1,15}")


class Call(OperationRequest, frozen=True, kw_only=True):
    """An HTTP request of a known caller."""

    app: App
    path: Mapping[str, str]
    query: Mapping[str, Sequence[str]]
    body: bytes
    signature: str | None = None  # of the body, by a provider that holds no token of ours
    headers: Mapping[str, str] = field(default_factory=dict)  # of a call that is taken as it comes
    form: bool = False  # the body is what a page's form sent, not JSON
    uploads: tuple[FileContent, ...] = ()  # the files of that form
    part: bool = False  # a script of ours asks for a part of a page, not for the whole
    at_pages: bool = True  # asked under the name of the pages, where cookies count
    from_elsewhere: bool = False  # a browser came by a link on another site
    is_public: bool = False  # asked under `public_url`
    cookie: str = ""  # the name of the session cookie there
    device: str = ""  # of a browser that has signed in before
    source: str = "unknown"  # who asks: an address, or a network
    seq: int | None = None  # of a whole page: the last event before anything for it was read

    @property
    def task_id(self) -> TaskId:
        return _parse_path_id(ids.task_id, self.path["id"])

    @property
    def review_id(self) -> ReviewId:
        return _parse_path_id(ids.review_id, self.path["id"])

    @property
    def series_id(self) -> SeriesId:
        return _parse_path_id(ids.series_id, self.path["id"])

    def read(self, kind: type[M]) -> M:
        """Return the parsed body."""
        return self._read(kind)

    def arguments(self, kind: type[A], *, bodiless: bool = False) -> A:
        """What an operation is asked to do: the body, and what the address names."""
        in_path = self._in_path(kind)
        return kind(**in_path) if bodiless else self._read(kind, in_path)

    def _read(self, kind: type[M], given: Mapping[str, object] | None = None) -> M:
        parse = bodies.read_form if self.form else bodies.read
        return parse(kind, self.body, given)

    def _in_path(self, kind: type[Arguments]) -> dict[str, str]:
        if issubclass(kind, TaskArguments):
            return {"id": self.task_id}
        if issubclass(kind, SeriesArguments):
            return {"id": self.series_id}
        if issubclass(kind, ReviewArguments):
            return {"id": self.review_id}
        return {field: self.path[name] for name, field in kind.in_path().items()}

    def text(self, name: str) -> str | None:
        return self.query[name][0] if name in self.query else None

    def word(self, name: str, kind: type[W]) -> W | None:
        text = self.text(name)
        try:
            return None if text is None else kind(text)
        except ValueError:
            raise _not_a_word(name, text, kind) from None

    def words(self, name: str, known: Mapping[str, Sequence[W]]) -> tuple[W, ...]:
        """Return values of a parameter; each word may stand for several."""
        for text in self.query.get(name, ()):
            if text not in known:
                raise _not_a_word(name, text, known)
        return tuple(ours for text in self.query.get(name, ()) for ours in known[text])

    def number(self, name: str, default: int, *, least: int = 0, most: int = 10**15 - 1) -> int:
        text = self.text(name)
        if text is None:
            return default
        if not _NUMBER.fullmatch(text) or not least <= int(text) <= most:
            sentence = f"{name} must be a whole number from {least} to {most}, not {text!r:.60}."
            raise BadInput(sentence, field=name)
        return int(text)

    def cursor(self, parse: Callable[[str], Id]) -> Id | None:
        """Return where the page begins; one that is none of ours is refused."""
        text = self.text("cursor")
        try:
            return None if text is None else parse(text)
        except BadInput:
            raise wrong_cursor(text) from None

    def flag(self, name: str) -> bool:
        return self.word(name, _Flag) is _Flag.TRUE


class CallResult(Struct, frozen=True):
    content: Json  # plain text, if it is a string
    status: int = 200
    location: str | None = None
    replayed: bool = False
    media: str | None = None  # if it is neither JSON nor plain text
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None  # a file, instead of the content


def result_of(answer: Answer, status: int = 200) -> CallResult:
    headers = {"ETag": f'"{answer.etag}"'} if answer.etag else {}
    status = answer.status or status
    return CallResult(answer.content, status, answer.location, headers=headers)


class _Flag(StrEnum):
    TRUE = "true"
    FALSE = "false"


def _parse_path_id(read: Callable[[str], Id], text: str) -> Id:
    """Parse an id of a path; an impossible one is not found."""
    try:
        return read(text)
    except BadInput as bad:
        raise RequestRefused("not-found", str(bad)) from None


def wrong_cursor(text: str | None) -> BadInput:
    sentence = f"{text!r:.60} is no cursor of ours; give `next` of the page before."
    return UnknownName(sentence, field="cursor")


def _not_a_word(
    name: str, text: str | None, known: type[StrEnum] | Mapping[str, object]
) -> BadInput:
    return BadInput(f"{name} is {text!r:.60}; it may be {', '.join(known)}.", field=name)


_MOST: Final = 255
_SWEEP_EVERY: Final = timedelta(hours=1)


class IdempotencyKeys:
    """Which keys are in use now, and what is stored under the others."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._at_work: dict[RequestKey, str] = {}
        self._swept_at: datetime | None = None

    async def once(
        self, key: RequestKey, digest: str, ref: str, work: Callable[[str], Awaitable[CallResult]]
    ) -> CallResult:
        """Do the work under a ref, or return the stored answer."""
        if key in self._at_work:
            raise self._in_flight(key, digest)
        self._at_work[key] = digest
        try:
            await self._sweep()
            kept = await self._db.write(callers.reserve, key, digest, ref, self._clock.now())
            if kept.digest != digest:
                raise KeyReused(key.name)
            return _again(kept) if kept.answered else await self._first(key, kept.body, work)
        finally:
            del self._at_work[key]

    async def _first(
        self, key: RequestKey, ref: str, work: Callable[[str], Awaitable[CallResult]]
    ) -> CallResult:
        try:
            answer = await work(ref)
        except StoreTrouble:
            raise  # unknown how far it came: the ref stays reserved for the retry
        except RemitError:
            await self._db.write(callers.release, key)
            raise
        fields = {"location": answer.location, "content": answer.content, "media": answer.media}
        kept = json.dumps(fields)
        await self._db.write(callers.answer, key, answer.status, kept)
        return answer

    async def _sweep(self) -> None:
        now = self._clock.now()
        if self._swept_at is None or now - self._swept_at >= _SWEEP_EVERY:
            self._swept_at = now
            await self._db.write(callers.sweep, now)

    def _in_flight(self, key: RequestKey, digest: str) -> RemitError:
        if self._at_work[key] != digest:
            return KeyReused(key.name)
        sentence = f"The request with Idempotency-Key {key.name!r} is being done; ask again."
        return RequestRefused("idempotency-in-flight", sentence)


def name_of(given: list[str]) -> str | None:
    """Return the key the caller sent; None if none."""
    if not given:
        return None
    name = given[0]
    if len(given) > 1 or not 1 <= len(name) <= _MOST or not (name.isascii() and name.isprintable()):
        sentence = f"Idempotency-Key must come once, with 1 to {_MOST} printable ASCII characters."
        raise BadInput(sentence, field="Idempotency-Key")
    return name


def digest_of(target: str, body: bytes) -> str:
    return hashlib.sha256(target.encode() + b"\x00" + body).hexdigest()


def _again(kept: StoredReply) -> CallResult:
    fields = json.loads(kept.body)
    media = fields.get("media")  # answers stored before an upgrade lack it
    return CallResult(
        fields["content"], kept.status, fields["location"], replayed=True, media=media
    )
