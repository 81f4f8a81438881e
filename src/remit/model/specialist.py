"""Code work: the job given to a specialist, and what the specialist claims."""

from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct

from remit.model.ids import TaskId
from remit.model.reply import Ask, ToolCall

PROJECT: Final = "project:"  # before a project's name, where a task says who does it


class AttemptOutcome(StrEnum):
    """How one attempt of a specialist ended."""

    SUCCESS = "success"
    NEEDS_OWNER = "needs_owner"  # it wants to do what only the owner may allow
    RATE_LIMIT = "rate_limit"
    BAD_OUTPUT = "bad_output"  # it stopped, and left nothing that could be checked
    VERIFICATION_FAILED = "verification_failed"
    CONTEXT_OVERFLOW = "context_overflow"
    CRASH = "crash"
    TIMEOUT = "timeout"


class SpecialistJob(Struct, frozen=True):
    """One piece of work for a specialist, in a folder of its own."""

    task_id: TaskId
    prompt: str
    workspace: str
    session: str | None = None  # the thread it goes on with; None begins one
    time_limit: float = 1800.0  # seconds
    allowed: tuple[str, ...] = ()  # digests of calls that the owner allowed, each once


class SpecialistClaim(Struct, frozen=True):
    """What a specialist says it did. It is believed only as far as it is verified."""

    text: str
    outcome: AttemptOutcome = AttemptOutcome.SUCCESS
    session: str | None = None
    error: str | None = None  # in a sentence, if it did not end well
    needs: ToolCall | None = None  # what exactly the owner is asked to allow
    done: tuple[str, ...] = ()  # of its own plan
    pending: tuple[str, ...] = ()
    asks: Ask | None = None  # what the owner is asked in words, if no call is to be allowed


class SpecialistAttempt(Struct, frozen=True):
    """One try of one specialist, as it is kept."""

    agent: str
    started_at: datetime
    ended_at: datetime
    outcome: AttemptOutcome
    error: str | None = None
    failed: tuple[str, ...] = ()  # criteria that were not met
    retries: int = 0  # how often this specialist had tried before
