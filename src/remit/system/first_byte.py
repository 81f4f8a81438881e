"""How late the first byte of a message may leave after its claim.

A process may be stopped for minutes and go on as if nothing had happened. Another one may have
taken over its work meanwhile. So a message is claimed when its connection stands, and a sender
checks directly before the first byte how long ago that was, by a clock that also counts the sleep
of the machine.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Generic, Protocol, TypeVar

from remit.errors import RemitError

# CLOCK_BOOTTIME is Linux; elsewhere time goes on while a process, but not the machine, is stopped.
_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
T = TypeVar("T")
SECONDS: Final = 10.0  # beside other workers a claim is used so soon, or not at all


class _Claim(Protocol):
    async def make(self) -> None: ...

    @property
    def is_made(self) -> bool: ...


_until: ContextVar[float | None] = ContextVar("first_byte_until", default=None)
_claim: ContextVar[_Claim | None] = ContextVar("first_byte_claim", default=None)


class TooLate(RemitError):
    """The claim is too old: nothing was sent, and nothing may be."""

    def __init__(self) -> None:
        super().__init__("this process was stopped between the claim and the first byte")


@contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """Let what is sent in this block leave within some seconds, or not at all."""
    token = _until.set(None if seconds is None else now() + seconds)
    try:
        yield
    finally:
        _until.reset(token)


@contextmanager
def claim_anew() -> Iterator[None]:
    """Count anew, for another try of what was claimed; the block checks first that it still is."""
    claim = _claim.get()
    if claim is not None and not claim.is_made:
        yield  # this try claims it
        return
    token = _claim.set(None)
    try:
        with within(None if claim is None and _until.get() is None else SECONDS):
            yield
    finally:
        _claim.reset(token)


class LateClaim(Generic[T]):
    """A claim that is made when the connection stands, once; it raises if nothing may be sent."""

    def __init__(self, claim: Callable[[], Awaitable[T]]) -> None:
        self._claim = claim
        self._begun = 0.0
        self._task: asyncio.Task[T] | None = None

    @contextmanager
    def before_first_byte(self) -> Iterator[None]:
        """Let what is sent in this block be claimed first."""
        token = _claim.set(self)
        try:
            yield
        finally:
            _claim.reset(token)

    async def make(self) -> None:
        """Claim, unless that is done; raises if nothing may leave."""
        await self.result()
        if now() > self._begun + SECONDS:
            raise TooLate

    @property
    def is_made(self) -> bool:
        return self._task is not None

    async def result(self) -> T:
        """Return what the claim came to; one that was not made yet is made now."""
        if self._task is None:
            self._begun = now()
            self._task = asyncio.ensure_future(self._run())
        # A sender's time limit must not cut a claim: its outcome would be unknown.
        return await asyncio.shield(self._task)

    async def _run(self) -> T:
        return await self._claim()


async def before_sending() -> None:
    """Call it when the connection stands, directly before the first byte of a message.

    It claims the message, if that is left to this moment, and raises if nothing may leave.
    """
    claim = _claim.get()
    if claim is not None:
        await claim.make()
    check()


def deadline() -> float | None:
    """Return when it is too late for the first byte, by the clock of `now`; None: never."""
    return _until.get()


def now() -> float:
    return time.clock_gettime(_CLOCK)


def check() -> None:
    """Raise if it is too late for the first byte."""
    until = _until.get()
    if until is not None and now() > until:
        raise TooLate
