"""Whether a plan keeps the time the owner said, to the minute and as often."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from remit.intake.compare_matter import Ground, Matter, show, shown
from remit.intake.extract import Draft
from remit.intake.lexicon.words import keys_of, tokenize
from remit.intake.proposed import ProposedTask
from remit.intake.recipients import About, Question
from remit.model.plan import Became

_MINUTE: Final = timedelta(minutes=1)
_IDLE: Final = {"INTERVAL": "1", "BYSECOND": "0", "WKST": "MO"}  # what goes without saying
_CLOCK: Final = ("BYHOUR", "BYMINUTE")


def ask_time(matter: Matter, ground: Ground) -> Question | None:
    """Ask about the time, if one was said that is not planned, or is planned otherwise."""
    wanted = [draft for draft in matter.drafts if draft.scheduled_for]
    if not wanted or matter.asks(ground, About.TIME):
        return None
    words = _words(matter, ground)
    timed = [task for task in matter.tasks if is_timed(task)]
    kept = all(any(_is_kept(one, task, words, ground.zone) for task in timed) for one in wanted)
    same = all(any(_is_kept(one, task, words, ground.zone) for one in wanted) for task in timed)
    declined = matter.declined(ground, Became.TIME)
    if kept and same and not declined:
        return None
    at = matter.first(ground, Became.TIME)
    other = ", ".join(told(task, ground.zone) for task in timed) or "no time at all"
    other = "left that out" if declined else other
    said = f"You said {show(words)} for {shown(ground.found.clauses[at])}"
    if words == ground.found.clauses[at].text:
        said = f"You said {show(words)}"
    sentence = (
        f"{said}, which is {_spoken(wanted, ground.zone)}; the plan of the model has {other}."
    )
    options = (words,) if wanted[0].recurrence else tuple(_moments(wanted, ground.zone))
    return Question(About.TIME, f"{sentence} When is it to be?", options, at)


def _words(matter: Matter, ground: Ground) -> str:
    """The owner's words for the time; they may stand before another part of the sentence."""
    said = ground.found.clauses[: matter.clauses[-1] + 1]
    times = [(at in matter.clauses, at) for at, c in enumerate(said) if c.became is Became.TIME]
    return said[max(times)[1]].text if times else matter.draft.title


def is_timed(task: ProposedTask) -> bool:
    return bool(task.scheduled_for or task.recurrence)


def ask_unread_time(task: ProposedTask, matter: Matter, ground: Ground) -> Question:
    """Ask whether a time is meant that code cannot read."""
    at = matter.clauses[0]
    when = told(task, ground.zone)
    sentence = (
        f"Remit alone cannot read {shown(ground.found.clauses[at])}. The model reads in "
        f"it that it is to happen at {when}. When is it to be?"
    )
    return Question(About.TIME, sentence, () if task.recurrence else (when,), at)


def told(task: ProposedTask, zone: ZoneInfo) -> str:
    """When a task of the model would happen, for the owner's eye."""
    if task.recurrence:
        return show(task.recurrence)
    at = _in_utc(task.scheduled_for, zone)
    return _local(at, zone) if at else "a time that does not exist"


def _is_kept(draft: Draft, task: ProposedTask, words: str, zone: ZoneInfo) -> bool:
    near = _is_near(draft.scheduled_for, _in_utc(task.scheduled_for, zone))
    if draft.recurrence is None:
        return near and not task.recurrence
    if task.scheduled_for and not near:
        return False
    if keys_of(tokenize(task.recurrence or "")) == keys_of(tokenize(words)):
        return True
    ours, theirs = _parts(draft.recurrence.rule), _parts(task.recurrence or "")
    if near and not any(part in theirs for part in _CLOCK):
        ours = {name: value for name, value in ours.items() if name not in _CLOCK}
    return ours == theirs


def _parts(rule: str) -> dict[str, frozenset[str]]:
    """An RRULE as what it says, in no order; daily on some days is weekly on these."""
    pairs = (part.partition("=") for part in rule.upper().removeprefix("RRULE:").split(";"))
    parts = {name.strip(): value.strip() for name, _, value in pairs}
    parts = {name: value for name, value in parts.items() if _IDLE.get(name) != value}
    if parts.get("FREQ") == "DAILY" and "BYDAY" in parts and "INTERVAL" not in parts:
        parts["FREQ"] = "WEEKLY"
    return {name: frozenset(value.split(",")) for name, value in parts.items()}


def _is_near(one: datetime | None, other: datetime | None) -> bool:
    """Whether two moments lie in one minute; "in two minutes" has seconds, a form has none."""
    return one is not None and other is not None and abs(one - other) < _MINUTE


def _in_utc(at: datetime | None, zone: ZoneInfo) -> datetime | None:
    """A moment of the model; without an offset it is on the owner's clock."""
    if at is None:
        return None
    try:
        return (at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC)
    except (OverflowError, ValueError):
        return None  # at the edge of what a calendar holds


def _spoken(drafts: list[Draft], zone: ZoneInfo) -> str:
    if drafts[0].recurrence:
        return f"{drafts[0].recurrence.rule}, first at {_local(drafts[0].recurrence.first, zone)}"
    return " and ".join(_moments(drafts, zone))


def _moments(drafts: list[Draft], zone: ZoneInfo) -> Iterator[str]:
    return (_local(draft.scheduled_for, zone) for draft in drafts if draft.scheduled_for)


def _local(at: datetime, zone: ZoneInfo) -> str:
    try:
        return f"{at.astimezone(zone):%Y-%m-%d %H:%M}"
    except (OverflowError, ValueError):
        return f"{at:%Y-%m-%d %H:%M} UTC"
