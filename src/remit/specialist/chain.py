"""Who works next: the same specialist again, in a new session, another one, or nobody. Pure.

| how it ended        | then                                                                |
|---------------------|---------------------------------------------------------------------|
| rate limit          | the same after 30, 60 and 120 seconds, then another                 |
| bad output, crash   | the same once more, then another                                    |
| time-out            | the same once more in a fresh session, then another                 |
| context overflow    | the same once in a fresh session; then it is too large for anybody  |
| verification failed | the same, at most three fixes for any one criterion, then another   |
| the same error twice from one specialist | another, whatever it was                       |

A specialist that gave up is not asked again.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from remit.errors import BadInput
from remit.model.contract import Contract, ContractType
from remit.model.reply import AttemptOutcome, SpecialistAttempt

ANY_KIND: Final = "*"  # the chain for kinds without their own
ADVICE: Final = "advice"  # work that no check can prove
TEXT: Final = "text"  # work that changes no code
RATE_DELAYS: Final = (30.0, 60.0, 120.0)
MAX_FIXES: Final = 3  # of one criterion, by one specialist
MAX_TRIES: Final = 10  # of one specialist, whatever becomes of them
MAX_OWNER_QUESTIONS: Final = 20  # questions to the owner, from one specialist
AGENT_WAY: Final = "name a coding agent under [specialists.NAME] in settings.toml"
NOBODY: Final = (
    f"Nobody is set up who can do this: {AGENT_WAY}, or set a language model under [brain], "
    "which can do it, too."
)
_NO_ERROR: Final = (
    AttemptOutcome.RATE_LIMIT,
    AttemptOutcome.NEEDS_OWNER,
)  # the same again proves nothing


class RetryAgent(Struct, frozen=True):
    """The same specialist continues, after this many seconds."""

    agent: str
    delay: float = 0.0


class NewSession(Struct, frozen=True):
    """The same specialist starts a new session, with the checkpoint."""

    agent: str


class NextAgent(Struct, frozen=True):
    """A specialist that has not tried yet starts, with the checkpoint if there is one."""

    agent: str


class Exhausted(Struct, frozen=True):
    """Only the owner can help now; `tried` lists the attempts, one line each."""

    why: str
    tried: tuple[str, ...] = ()


Next: TypeAlias = RetryAgent | NewSession | NextAgent | Exhausted


def kinds_of_work(contract: Contract | None) -> frozenset[str]:
    """Return the kinds of work of a task: its critics, by the contract.

    Plain code has no particular kind, and anybody may do it.
    """
    match contract.type if contract else None:
        case ContractType.ADVISORY:
            return frozenset({ADVICE})
        case ContractType.SKIP:
            return frozenset({TEXT})
        case _:
            criteria = contract.criteria if contract else ()
            critics = (each.pattern for each in criteria if each.activity == "critic")
            return frozenset(each for each in critics if each)


def specialist_line(
    chains: Mapping[str, Sequence[str]], needs: frozenset[str], able: Mapping[str, frozenset[str]]
) -> tuple[str, ...]:
    """Return who may do a task of these kinds, best first: in its chain, present and capable.

    The first matching chain counts. Without listed capabilities a specialist can do anything.
    """
    own = (names for kind, names in chains.items() if kind in needs and names)
    chain = next(own, None) or chains.get(ANY_KIND) or tuple(able)
    fit = (name for name in chain if name in able and (not able[name] or needs <= able[name]))
    return tuple(dict.fromkeys(fit))


def next_step(who: Sequence[str], attempts: Sequence[SpecialistAttempt]) -> Next:
    """Return who works next, after these attempts."""
    if attempts and attempts[-1].outcome is AttemptOutcome.SUCCESS:
        raise BadInput(f"{attempts[-1].agent} ended well; nobody follows after that.")
    mine = [attempt for attempt in attempts if attempt.agent == attempts[-1].agent]
    if _count(mine, AttemptOutcome.CONTEXT_OVERFLOW) > 1:
        why = f"The task is too large for {mine[-1].agent}, even in a fresh session; split it."
        return Exhausted(why, attempt_lines(attempts))
    return (_next_with_same(mine) if mine else None) or _next_agent(who, attempts)


def add_attempt(
    attempts: Sequence[SpecialistAttempt], attempt: SpecialistAttempt
) -> tuple[SpecialistAttempt, ...]:
    """Return the attempts with one more, which knows how often its specialist had tried."""
    retries = sum(before.agent == attempt.agent for before in attempts)
    return (*attempts, replace(attempt, retries=retries))


def attempt_lines(attempts: Sequence[SpecialistAttempt]) -> tuple[str, ...]:
    """Return who tried, how often, and how the last attempt ended: one line each."""
    tries = Counter(attempt.agent for attempt in attempts)
    last = {attempt.agent: attempt for attempt in attempts}
    return tuple(_attempt_line(last[agent], tries[agent]) for agent in tries)


def same_error(one: SpecialistAttempt, other: SpecialistAttempt) -> bool:
    """Whether two attempts failed of the same: times, durations and addresses may differ."""
    return one.outcome is other.outcome and _error_fingerprint(one) == _error_fingerprint(other)


def _next_with_same(mine: Sequence[SpecialistAttempt]) -> RetryAgent | NewSession | None:
    """Return how the last specialist may try again; None if it may not."""
    last = mine[-1]
    match last.outcome:
        case AttemptOutcome.NEEDS_OWNER:
            asked = _count(mine, AttemptOutcome.NEEDS_OWNER)
            return RetryAgent(last.agent) if asked <= MAX_OWNER_QUESTIONS else None
        case AttemptOutcome.RATE_LIMIT:
            delay = dict(enumerate(RATE_DELAYS, 1)).get(_in_a_row(mine, AttemptOutcome.RATE_LIMIT))
            return RetryAgent(last.agent, delay) if delay else None
        case _:
            return _retry_or_restart(mine) if _may_mend(mine) else None


def _retry_or_restart(mine: Sequence[SpecialistAttempt]) -> RetryAgent | NewSession:
    last = mine[-1]
    afresh = last.outcome in (AttemptOutcome.TIMEOUT, AttemptOutcome.CONTEXT_OVERFLOW)
    return NewSession(last.agent) if afresh else RetryAgent(last.agent)


def _may_mend(mine: Sequence[SpecialistAttempt]) -> bool:
    """Whether a specialist that failed gets another attempt."""
    last, before = mine[-1], mine[:-1]
    working = [each for each in mine if each.outcome not in _NO_ERROR]
    if any(same_error(last, each) for each in before) or len(working) >= MAX_TRIES:
        return False
    if last.outcome is AttemptOutcome.VERIFICATION_FAILED:
        return _fixes_left(mine)
    return _count(mine, last.outcome) == 1


def _fixes_left(mine: Sequence[SpecialistAttempt]) -> bool:
    failed = [each for each in mine if each.outcome is AttemptOutcome.VERIFICATION_FAILED]
    tries = Counter(criterion for each in failed for criterion in set(each.failed) or {""})
    # The first try is no fix.
    return max(tries.values()) <= MAX_FIXES


def _next_agent(who: Sequence[str], attempts: Sequence[SpecialistAttempt]) -> NextAgent | Exhausted:
    tried = {attempt.agent for attempt in attempts}
    left = [agent for agent in who if agent not in tried]
    if left:
        return NextAgent(left[0])
    if not tried:
        return Exhausted(NOBODY)
    return Exhausted("Everybody who can do this has tried.", attempt_lines(attempts))


def _attempt_line(last: SpecialistAttempt, tries: int) -> str:
    often = "once" if tries == 1 else f"{tries} times"
    how = last.outcome.value.replace("_", " ")
    why = " ".join((last.error or "").split())[:200]
    return f"{last.agent} tried {often}; last: {how}{f': {why}' if why else ''}"


def _count(mine: Sequence[SpecialistAttempt], outcome: AttemptOutcome) -> int:
    return sum(attempt.outcome is outcome for attempt in mine)


def _in_a_row(mine: Sequence[SpecialistAttempt], outcome: AttemptOutcome) -> int:
    """Return how many of the last attempts in a row ended this way."""
    row = 0
    for attempt in reversed(mine):
        if attempt.outcome is not outcome:
            break
        row += 1
    return row


def _error_fingerprint(attempt: SpecialistAttempt) -> tuple[frozenset[str], str]:
    """Return an error without times, addresses and paths, which differ from run to run."""
    return frozenset(attempt.failed), _VARIES.sub("", " ".join((attempt.error or "").split()))


# "2 of 5 failed" and "1 of 5 failed" differ: plain numbers stay.
_VARIES: Final = re.compile(
    r"0x[0-9a-fA-F]+"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"
    r"|\b\d+(?:[.,]\d+)? ?(?:ms|s|secs?|seconds?|min|minutes?)\b"
    r"|/tmp/[\w./-]+"
)


_MAX_READ_CHARACTERS: Final = 4_000  # characters, from the end
_OVERFLOW: Final = re.compile(
    r"context[ _-]?(?:length|window|limit|size)|(?:prompt|input|conversation) (?:is|was) too long"
    r"|maximum (?:context|number of tokens)|too many (?:input )?tokens|exceeds? .{0,40}tokens"
    r"|longer than .{0,60}can read",
    re.IGNORECASE,
)
_LIMIT: Final = re.compile(
    r"rate[ _-]?limit|too many requests|\b429\b|quota|usage limit|overloaded|\b529\b"
    r"|try again later|resource[ _]exhausted",
    re.IGNORECASE,
)


def classify_failure(output: str) -> AttemptOutcome:
    """Return the class of a failure; unknown output is a crash.

    A prompt that is too long stays so, so it is checked first.
    """
    end = output[-_MAX_READ_CHARACTERS:]
    if _OVERFLOW.search(end):
        return AttemptOutcome.CONTEXT_OVERFLOW
    return AttemptOutcome.RATE_LIMIT if _LIMIT.search(end) else AttemptOutcome.CRASH
