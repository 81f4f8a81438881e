"""Idempotency-Key: the same request twice is done once (after the expired IETF draft-07).

A successful answer is kept for a day and returned again. A refused request changed nothing, so its
key is free again. A process that dies in between leaves a reservation with a ref: a repeat under
the same ref finds the stored result.
"""

import hashlib
import json
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final

from remit.errors import BadInput, KeyReused, RemitError, StoreTrouble
from remit.ports import Clock
from remit.server.call import CallResult
from remit.server.problem import Problem, RequestRefused
from remit.store import idempotency
from remit.store.database import Database
from remit.store.idempotency import RequestKey, StoredReply

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
            kept = await self._db.write(idempotency.reserve, key, digest, ref, self._clock.now())
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
            await self._db.write(idempotency.release, key)
            raise
        told = {"location": answer.location, "content": answer.content, "media": answer.media}
        kept = json.dumps(told)
        await self._db.write(idempotency.answer, key, answer.status, kept)
        return answer

    async def _sweep(self) -> None:
        now = self._clock.now()
        if self._swept_at is None or now - self._swept_at >= _SWEEP_EVERY:
            self._swept_at = now
            await self._db.write(idempotency.sweep, now)

    def _in_flight(self, key: RequestKey, digest: str) -> RemitError:
        if self._at_work[key] != digest:
            return KeyReused(key.name)
        sentence = f"The request with Idempotency-Key {key.name!r} is being done; ask again."
        return RequestRefused(Problem("idempotency-in-flight", sentence))


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
    told = json.loads(kept.body)
    media = told.get("media")  # answers stored before an upgrade lack it
    return CallResult(told["content"], kept.status, told["location"], replayed=True, media=media)
