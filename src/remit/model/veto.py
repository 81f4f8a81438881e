"""Words of the owner that hold a message back or limit it; code enforces them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, time, timedelta
from enum import StrEnum
from typing import Final

from msgspec import Struct

_MOST_SHOWN: Final = 3


class VetoKind(StrEnum):
    """What some words of a message express."""

    DENIAL = "denial"  # "don't"
    HOLD = "hold"  # "wait with that"
    RETRACTION = "retraction"  # "scratch that"
    CONDITION = "condition"  # "if", "as soon as"
    HYPOTHESIS = "hypothesis"  # "should I", "maybe"
    REPORTED = "reported"  # "she said"
    LANGUAGE = "language"  # not in a language that Remit reads
    ANSWER = "answer"  # the text came as an answer to a question, and is shown before it is sent
    # A model's reading that code cannot confirm:
    MODEL_TEXT = "model_text"  # the text is not in the owner's words
    RECIPIENT = "recipient"  # the person is named, perhaps not as the recipient
    TEXT = "text"  # the text may be longer or shorter
    TIME = "time"  # code reads a different time
    UNCOVERED = "uncovered"  # some words are in no field of the reading


class VetoCue(Struct, frozen=True):
    """The words, and where they stand in the message."""

    kind: VetoKind
    words: str
    start: int
    end: int


_SAYS: Final = "Your message says {}."
_SENTENCES: Final = {
    VetoKind.LANGUAGE: "Your message is in a language that Remit does not read.",
    VetoKind.ANSWER: "Your answer made this message complete.",
    VetoKind.MODEL_TEXT: "The wording is not yours.",
    VetoKind.RECIPIENT: "It is not certain that {} is to get it.",
    VetoKind.TEXT: "It is not certain where the text begins and ends.",
    VetoKind.TIME: "It is not certain when {} is.",
    VetoKind.UNCOVERED: "Your message also says {}.",
}


def veto_sentence(
    cues: Sequence[VetoCue],
    sentences: Mapping[VetoKind, str] = _SENTENCES,
    other: str = _SAYS,
    and_: str = "and",
) -> str:
    """Return why others get nothing without the owner's approval; `sentences` may be translated."""
    by_kind: dict[str, list[str]] = {}
    for cue in cues:
        sentence = sentences.get(cue.kind, other)
        words = by_kind.setdefault(sentence, [])
        if f"“{cue.words}”" not in words:
            words.append(f"“{cue.words}”")
    return " ".join(
        sentence.format(f" {and_} ".join(words[:_MOST_SHOWN]))
        for sentence, words in by_kind.items()
    )


class ConditionKind(StrEnum):
    NOT_BEFORE = "not_before"  # a time
    NOT_ON = "not_on"  # days of the week
    NOT_TO = "not_to"  # people
    ONLY_IF = "only_if"  # something in the world
    AFTER_OK = "after_ok"  # an event that code cannot see: the owner must say that it happened
    QUIET = "quiet"  # the run may end without a message to the owner
    WATCH = "watch"  # each run looks here first, and ends if nothing changed


# The kinds that a leading word of a message shows.
LED_KINDS: Final = tuple(
    kind for kind in ConditionKind if kind not in (ConditionKind.QUIET, ConditionKind.WATCH)
)


class Condition(Struct, frozen=True):
    """One limit, in the owner's words and as code understands it."""

    kind: ConditionKind
    words: str
    end: int = 0  # where the words end in the message
    at: datetime | None = None  # not before this, in UTC
    days: tuple[int, ...] = ()  # not on these; Monday is 0
    zone: str = "UTC"  # the zone in which days begin
    names: tuple[str, ...] = ()  # not to these
    pattern: str = ""  # of a watch: which part counts


def excludes(conditions: Iterable[Condition], name: str) -> Condition | None:
    """Return the limit that excludes a person; None if there is none."""
    return next((each for each in conditions if name in each.names), None)


def holds_until(conditions: Iterable[Condition], now: datetime) -> tuple[datetime, str] | None:
    """Return until when nothing may be sent, and the words that say so; None if it may go now."""
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - most tasks have no such condition

    for each in conditions:
        if each.at is not None and now < each.at:
            return each.at, each.words
        local = now.astimezone(ZoneInfo(each.zone))
        if local.weekday() in each.days and len(set(each.days)) < 7:  # noqa: PLR2004 - a week
            return _next_day(local, each), each.words
    return None


def _next_day(local: datetime, condition: Condition) -> datetime:
    """Return the midnight at which the first day begins that is not excluded."""
    day = local.date() + timedelta(days=1)
    while day.weekday() in condition.days:
        day += timedelta(days=1)
    return datetime.combine(day, time(), tzinfo=local.tzinfo)
