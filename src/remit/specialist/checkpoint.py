"""How far the work is, in less than 2 KB, for the next specialist. Pure.

It is written before a hand-over. What does not fit is dropped in a fixed order, oldest first, and
the number is noted. File hashes tell whether a file changed since.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.model.codec import text_of, to_json
from remit.model.reply import SpecialistClaim
from remit.specialist.changes import quote

MAX_BYTES: Final = 2_000  # of the whole, as JSON in UTF-8
MAX_STEPS: Final = 10
MAX_FILES: Final = 16
_MAX_STEP_CHARACTERS: Final = 120  # characters of a step
_MAX_WHY_CHARACTERS: Final = 100
_MAX_NOW_CHARACTERS: Final = 200
_MAX_PATH_CHARACTERS: Final = 160
_HASH_CHARACTERS: Final = 12  # characters of a file's hash


class CheckpointCause(StrEnum):
    """Why a checkpoint was written."""

    PERIODIC = "periodic"
    CONTEXT_LIMIT = "context_limit"
    FAILURE = "failure"
    REASSIGNMENT = "reassignment"
    RATE_LIMIT = "rate_limit"
    MANUAL = "manual"


class WorkChoice(Struct, frozen=True):
    """A decision made during the work, and its reason."""

    what: str
    why: str = ""


class FileState(Struct, frozen=True):
    """A file's state; an empty hash means deleted."""

    path: str
    hash: str


class Checkpoint(Struct, frozen=True):
    agent: str
    cause: CheckpointCause
    made_at: datetime
    done: tuple[str, ...] = ()  # oldest first
    pending: tuple[str, ...] = ()
    choices: tuple[WorkChoice, ...] = ()
    blockers: tuple[str, ...] = ()
    now: str = ""  # what was in progress
    tried: tuple[str, ...] = ()  # who worked before
    files: tuple[FileState, ...] = ()
    left_out: int = 0  # entries that did not fit


def checkpoint_of_claim(
    claim: SpecialistClaim,
    *,
    agent: str,
    cause: CheckpointCause,
    made_at: datetime,
    files: Mapping[str, str],
    before: Checkpoint | None = None,
) -> Checkpoint:
    """The checkpoint after a claim, on from the one before; `files` maps paths to hashes."""
    report = _parse_report(claim.text)
    was = before or Checkpoint(agent, cause, made_at)
    return trim(
        Checkpoint(
            agent,
            cause,
            made_at,
            done=_join_unique(was.done, claim.done, report["DONE"]),
            pending=_join_unique(claim.pending, report["NEXT"]) or was.pending,
            choices=tuple(dict.fromkeys((*was.choices, *map(_choice, report["DECIDED"])))),
            blockers=_join_unique(report["BLOCKED"], (claim.error,) if claim.error else ()),
            tried=_join_unique(was.tried, (before.agent,) if before else ()),
            files=tuple(FileState(path, sha) for path, sha in sorted(files.items())),
            left_out=was.left_out,
        )
    )


def trim(checkpoint: Checkpoint) -> Checkpoint:
    """Return the same in less than 2 KB: the last ten steps, shortened, oldest dropped first."""
    short = _shorten(checkpoint)
    while len(pack(short).encode()) >= MAX_BYTES:
        short = _smaller(short)
    return short


def pack(checkpoint: Checkpoint) -> str:
    """Return the text; equal checkpoints give equal text."""
    return text_of(to_json(checkpoint))


def hand_over_text(checkpoint: Checkpoint) -> str:
    """Return what the next specialist is told of it, quoted: the words are another's."""
    parts = [
        _quoted_section("Done", checkpoint.done),
        _quoted_section("Still to do", checkpoint.pending),
        _quoted_section(
            "Decided",
            [", because ".join(filter(None, (c.what, c.why))) for c in checkpoint.choices],
        ),
        _quoted_section("In the way", checkpoint.blockers),
        _quoted_section("Under way", [checkpoint.now] if checkpoint.now else []),
        _quoted_section(
            "Files it changed, which are in your folder", [s.path for s in checkpoint.files]
        ),
    ]
    lead = (
        f"{checkpoint.agent} worked on this before ({checkpoint.cause.value.replace('_', ' ')}). "
        "What it left is in the folder. It says of it, which nobody has checked:"
    )
    return "\n".join([lead, *(part for part in parts if part)])


def _quoted_section(title: str, lines: Sequence[str]) -> str:
    return f"\n{title}:\n" + "\n".join(quote(f"- {line}") for line in lines) if lines else ""


def _shorten(found: Checkpoint) -> Checkpoint:
    """Each word within its length, each list within its number."""
    steps = found.done[-MAX_STEPS:]
    files = found.files[:MAX_FILES]
    gone = len(found.done) - len(steps) + len(found.files) - len(files)
    return replace(
        found,
        agent=_short(found.agent, 40),
        done=_shorter(steps),
        pending=_shorter(found.pending[:MAX_STEPS]),
        choices=tuple(
            WorkChoice(_short(c.what, _MAX_STEP_CHARACTERS), _short(c.why, _MAX_WHY_CHARACTERS))
            for c in found.choices[-MAX_STEPS:]
        ),
        blockers=_shorter(found.blockers[-MAX_STEPS:]),
        now=_short(found.now, _MAX_NOW_CHARACTERS),
        tried=tuple(_short(agent, 40) for agent in found.tried[-MAX_STEPS:]),
        files=tuple(
            FileState(_short(s.path, _MAX_PATH_CHARACTERS), s.hash[:_HASH_CHARACTERS])
            for s in files
        ),
        left_out=found.left_out + gone,
    )


def _smaller(found: Checkpoint) -> Checkpoint:
    """Drop one entry of the longest list; of equals the first below."""

    def size(name: str) -> int:
        return sum(len(text_of(to_json(entry)).encode()) for entry in getattr(found, name))

    longest = max(_LISTS, key=size)
    kept = getattr(found, longest)[_LISTS[longest]]
    return replace(found, **{longest: kept}, left_out=found.left_out + 1)


# The lists of a checkpoint, and which entry is dropped first: of finished steps the oldest, of
# pending ones and files the last.
_FIRST, _LAST = slice(1, None), slice(None, -1)
_LISTS: Final = {
    "files": _LAST,
    "done": _FIRST,
    "tried": _FIRST,
    "pending": _LAST,
    "choices": _FIRST,
    "blockers": _LAST,
}


def _parse_report(text: str) -> dict[str, tuple[str, ...]]:
    """Return the lines of a report, by their first word; every line may be missing."""
    found = re.findall(r"^[ \t>*-]*(DONE|NEXT|DECIDED|BLOCKED):[ \t]*(\S.*)$", text, re.MULTILINE)
    words = ("DONE", "NEXT", "DECIDED", "BLOCKED")
    return {word: tuple(value for key, value in found if key == word) for word in words}


def _choice(text: str) -> WorkChoice:
    what, _, why = text.partition(" because ")
    return WorkChoice(what.rstrip(" ,"), why)


def _join_unique(*lists: Sequence[str]) -> tuple[str, ...]:
    """Return all entries in order, each once."""
    return tuple(dict.fromkeys(entry for entries in lists for entry in entries))


def _shorter(entries: Sequence[str]) -> tuple[str, ...]:
    return tuple(_short(entry, _MAX_STEP_CHARACTERS) for entry in entries)


def _short(text: str, most: int) -> str:
    """Return one line of at most this many bytes."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    raw = line.encode("utf-8", "replace")
    return line if len(raw) <= most else raw[: most - 3].decode("utf-8", "ignore") + "…"
