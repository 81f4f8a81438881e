"""Code work: the job given to a specialist, and what the specialist claims."""

from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct

from remit.model.ids import TaskId
from remit.model.reply import Ask, ToolCall

PROJECT: Final = "project:"  # prefix of a project's name in a task's agent


class AttemptOutcome(StrEnum):
    """How one attempt of a specialist ended."""

    SUCCESS = "success"
    NEEDS_OWNER = "needs_owner"  # it needs something that only the owner may allow
    RATE_LIMIT = "rate_limit"
    BAD_OUTPUT = "bad_output"  # it stopped and left nothing to check
    VERIFICATION_FAILED = "verification_failed"
    CONTEXT_OVERFLOW = "context_overflow"
    CRASH = "crash"
    TIMEOUT = "timeout"


class SpecialistJob(Struct, frozen=True):
    """One piece of work for a specialist, in its own folder."""

    task_id: TaskId
    prompt: str
    workspace: str
    session: str | None = None  # the session to continue; None starts one
    time_limit: float = 1800.0  # seconds
    allowed: tuple[str, ...] = ()  # digests of calls the owner allowed, each once


class SpecialistClaim(Struct, frozen=True):
    """What a specialist says it did. Only what is verified counts."""

    text: str
    outcome: AttemptOutcome = AttemptOutcome.SUCCESS
    session: str | None = None
    error: str | None = None  # a sentence, if it did not succeed
    needs: ToolCall | None = None  # the exact call the owner is asked to allow
    done: tuple[str, ...] = ()  # of its own plan
    pending: tuple[str, ...] = ()
    asks: Ask | None = None  # a question to the owner, if no call needs approval


class SpecialistAttempt(Struct, frozen=True):
    """One stored attempt of one specialist."""

    agent: str
    started_at: datetime
    ended_at: datetime
    outcome: AttemptOutcome
    error: str | None = None
    failed: tuple[str, ...] = ()  # criteria that were not met
    retries: int = 0  # earlier attempts of this specialist
