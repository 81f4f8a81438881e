"""Compares the time a model read with what code reads in the same words."""

from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct

from remit.errors import BadInput
from remit.intake import answers
from remit.intake.message_words import MessageWords
from remit.intake.reading_form import ReadTask
from remit.intake.recipients import Question, QuestionTopic
from remit.language.time.resolve import Moment, Recurrence
from remit.language.time.which_day import TimeDoubt
from remit.model import rrule
from remit.model.moments import check_moment
from remit.model.series import Repeats
from remit.model.veto import VetoCue, VetoKind

_MINUTE: Final = timedelta(minutes=1)
_IDLE: Final = {"INTERVAL": "1", "BYSECOND": "0", "WKST": "MO"}  # what goes without saying
_CLOCK: Final = ("BYHOUR", "BYMINUTE")
_WHEN: Final = Question(QuestionTopic.TIME, "When is it to be?")


class CheckedTime(Struct, frozen=True):
    """When a task runs. `veto` is a doubt that matters only if somebody else is reached."""

    when: Moment | Recurrence | None = None
    veto: VetoCue | None = None
    question: Question | None = None
    note: str | None = None


def check_time(
    task: ReadTask, message: MessageWords, *, now: datetime, zone: ZoneInfo
) -> CheckedTime:
    """Take the time that both read; where they differ, code's, and say so."""
    read = _of_model(task, zone)
    words = " ".join(task.time_words)
    places = [next(message.places(each), None) for each in task.time_words]
    if not all(places) or not places:
        invented = read is not None or bool(places)
        return CheckedTime(question=_WHEN) if invented else CheckedTime()
    place = places[0] or (0, 0)
    own = answers.when(words, "", now=now, zone=zone) or ()
    ours = [each for each in own if isinstance(each, Moment | Recurrence)]
    doubt = own[0] if own and isinstance(own[0], TimeDoubt) else None
    unsure = VetoCue(VetoKind.TIME, words, *place)
    if len(ours) == 1 == len(own) and (read is None or type(read) is type(ours[0])):
        if read is not None and _is_same(ours[0], read):
            return CheckedTime(ours[0])
        return CheckedTime(ours[0], unsure, note=_echo(words, ours[0], zone))
    if read is None or not _is_to_come(read, now):
        why = doubt.why if doubt else f"When is {words!r}?"
        return CheckedTime(
            question=Question(QuestionTopic.TIME, why, doubt.options if doubt else ())
        )
    veto = None if doubt and _is_option(read, doubt, zone) else unsure
    return CheckedTime(read, veto, note=_echo(words, read, zone))


def _is_option(when: Moment | Recurrence, doubt: TimeDoubt, zone: ZoneInfo) -> bool:
    """Whether a time is one of those that code thinks possible: "09:00" for "in the morning"."""
    at = when.at if isinstance(when, Moment) else when.first
    return any(f"{at.astimezone(zone):%H:%M}" in option for option in doubt.options)


def _of_model(task: ReadTask, zone: ZoneInfo) -> Moment | Recurrence | None:
    """What the model read, if it can be kept at all."""
    try:
        at = task.at
        if at is None:
            return None
        at = (at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC)
        check_moment(at, "at")
        if not task.rrule:
            return Moment(at)
        rule = _with_clock(task.rrule.upper().removeprefix("RRULE:"), at, zone)
        first = next(rrule.slots(Repeats(rule, zone.key, at), at - _MINUTE), None)
    except (BadInput, OverflowError, ValueError):
        return None
    return Recurrence(rule, zone.key, first) if first else None


def _with_clock(rule: str, at: datetime, zone: ZoneInfo) -> str:
    if "BYHOUR" in rule or "HOURLY" in rule or "MINUTELY" in rule:
        return rule
    local = at.astimezone(zone)
    return f"{rule};BYHOUR={local.hour};BYMINUTE={local.minute}"


def _is_to_come(when: Moment | Recurrence, now: datetime) -> bool:
    return (when.at if isinstance(when, Moment) else when.first) > now


def _is_same(one: Moment | Recurrence, other: Moment | Recurrence) -> bool:
    if isinstance(one, Moment) and isinstance(other, Moment):
        return abs(one.at - other.at) < _MINUTE
    if isinstance(one, Recurrence) and isinstance(other, Recurrence):
        return abs(one.first - other.first) < _MINUTE and _rule(one.rule) == _rule(other.rule)
    return False


def _rule(rule: str) -> dict[str, frozenset[str]]:
    """An RRULE as what it says, in no order; daily on some days is weekly on these."""
    pairs = (part.partition("=") for part in rule.upper().split(";"))
    parts = {name: value for name, _, value in pairs if _IDLE.get(name) != value}
    if parts.get("FREQ") == "DAILY" and "BYDAY" in parts and "INTERVAL" not in parts:
        parts["FREQ"] = "WEEKLY"
    return {n: frozenset(v.split(",")) for n, v in parts.items() if n not in _CLOCK}


def _echo(words: str, when: Moment | Recurrence, zone: ZoneInfo) -> str:
    at = when.at if isinstance(when, Moment) else when.first
    return f"{words!r} is read as {at.astimezone(zone):%A %Y-%m-%d %H:%M}."
