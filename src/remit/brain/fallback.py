"""A second model takes over while the first one's provider is down, refuses the key or is unpaid.

A circuit breaker leaves the first alone for a while after a failure, longer each time it fails
again, and then tries it once more. Its state is three values for each role.
"""

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from msgspec.structs import replace

from remit.brain.budget import PaidRequest
from remit.brain.choose import FilledForm
from remit.errors import Transient
from remit.model.reply import Ask, Reply, Usage
from remit.model.status import Reason

FIRST_PAUSE_SECONDS: Final = 60.0
LONGEST_PAUSE_SECONDS: Final = 960.0
_MAX_WHY_CHARACTERS: Final = 300

Answer = TypeVar("Answer", bound=PaidRequest)


class CircuitBreaker:
    """Remembers that a provider failed, and until when it is not asked."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._pause = 0.0
        self._until = 0.0
        self.why = ""  # the last failure, in a sentence

    @property
    def is_open(self) -> bool:
        """Whether the provider is left alone now."""
        return self._pause > 0 and self._now() < self._until

    def note_failure(self, why: str) -> None:
        self._pause = min(max(FIRST_PAUSE_SECONDS, self._pause * 2), LONGEST_PAUSE_SECONDS)
        self._until = self._now() + self._pause
        self.why = why[:_MAX_WHY_CHARACTERS]

    def note_success(self) -> None:
        self._pause = 0.0


class FirstOrSecond:
    """Asks the first model, or the second while the first is down."""

    def __init__(self, first: str, second: str, breaker: CircuitBreaker) -> None:
        self._names = first or "the first model", second
        self._breaker = breaker

    async def ask(
        self, first: Callable[[], Awaitable[Answer]], second: Callable[[], Awaitable[Answer]]
    ) -> Answer | Reply:
        """Return the first answer that is one. If both fail, the error speaks of both."""
        failed: Transient | Ask | None = None
        requests = 0
        if not self._breaker.is_open:
            answer, failed = await _attempt(first)
            if answer is not None:
                self._breaker.note_success()
                return answer
            self._breaker.note_failure(_sentence(failed))
            requests = 1
        answer, failed_too = await _attempt(second)
        if answer is None:
            return self._both_failed(failed, failed_too)
        name, other = self._names
        note = f"{other} answered instead of {name}: {self._breaker.why}"
        usage = replace(answer.usage, requests=answer.usage.requests + requests)
        if isinstance(answer, Reply):
            return replace(answer, fallback_note=note, usage=usage)
        return replace(answer, usage=usage) if isinstance(answer, FilledForm) else answer

    def _both_failed(self, first: Transient | Ask | None, second: Transient | Ask | None) -> Reply:
        """Raise or return what to do about two failures: retry if one of them may pass."""
        _, other = self._names
        why = f"{self._breaker.why} {other}, the second model, did not answer: {_sentence(second)}"
        passing = next((each for each in (first, second) if isinstance(each, Transient)), None)
        if passing is not None:
            raise Transient(why, after=passing.after)
        return Reply("", ask=Ask(Reason.AUTH, why), usage=Usage(requests=1))


async def _attempt(
    ask: Callable[[], Awaitable[Answer]],
) -> tuple[Answer | None, Transient | Ask | None]:
    """Return an answer, or the failure that another provider may not have."""
    try:
        answer = await ask()
    except Transient as error:
        return None, error
    if isinstance(answer, Reply) and answer.ask is not None and answer.ask.reason is Reason.AUTH:
        return None, answer.ask
    return answer, None


def _sentence(failure: Transient | Ask | None) -> str:
    return failure.question if isinstance(failure, Ask) else str(failure or "")
