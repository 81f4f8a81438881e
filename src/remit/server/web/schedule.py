"""The schedule page: what is planned, what became of it, and the series behind it."""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import islice, takewhile
from typing import Annotated, Final

from msgspec import Meta, Struct, convert

from remit.errors import BadInput, Conflict
from remit.model import codec, rrule
from remit.model.ids import SeriesId, TaskId
from remit.model.recurrence import Series, Slot, SlotFate
from remit.model.status import Status
from remit.model.task import SourceKind, Task
from remit.operations import series as operations
from remit.operations.operation import Operation
from remit.operations.settings_arguments import RefusalForm
from remit.operations.table import perform
from remit.operations.upkeep import see_calendar_refusal
from remit.server import listing
from remit.server.bodies import RequestBody
from remit.server.call import Call, CallResult
from remit.server.problem import RequestRefused
from remit.server.routes import Route, form, page
from remit.server.web import calendar, row, shell, words
from remit.server.web.calendar import CalendarMark, CalendarSheet, CalendarSpan
from remit.server.web.listing import line_address
from remit.store import agenda, series, series_orders, tasks
from remit.store.agenda import PlannedStart
from remit.store.database import Tx

REFUSED_HREF: Final = "/schedule#refused"
_NEXT: Final = 3
_MOST: Final = 3_000  # slots of one series on one sheet
_SERIES: Final = 100
_FAR: Final = 1_000  # future runs that can be opened
_MOMENT: Final = timedelta(microseconds=1)


class SeriesForm(RequestBody, frozen=True):
    """An action on a series, and where to go then."""

    back: Annotated[str, Meta(max_length=200)] = "/schedule"


class RepeatForm(SeriesForm, frozen=True):
    every: Annotated[str, Meta(max_length=500)] = ""


class SlotForm(SeriesForm, frozen=True, kw_only=True):
    at: Annotated[str, Meta(max_length=40)]


class MoveSlotForm(SlotForm, frozen=True, kw_only=True):
    to: Annotated[str, Meta(max_length=40)]


class PlannedRun(Struct, frozen=True):
    """A future run: when, and whether clocks change before it."""

    at: datetime
    href: str
    changes: bool
    moved: datetime | None = None  # its original time
    skipped: bool = False


class SeriesRow(Struct, frozen=True):
    """A series in the sidebar."""

    series: Series
    words: str
    runs: tuple[PlannedRun, ...]

    @property
    def ends(self) -> bool:
        """Whether its rule has no further time."""
        return not self.runs and self.series.paused_at is None


@page("/schedule", "span", "on", "done", "series", "slot")
async def show(call: Call) -> CallResult:
    """Show a week or a month, and every series."""
    now = shell.local_now(call)
    span = call.word("span", CalendarSpan) or CalendarSpan.WEEK
    sheet = calendar.sheet(span, _day(call.text("on"), now))
    marks, rhythms = await call.app.db.read(look, sheet, now, _spread(call))
    values = {
        "sheet": sheet,
        "marks": marks,
        "days": calendar.days(sheet, marks, now),
        "hours": calendar.hours(sheet, marks, now) if span is CalendarSpan.WEEK else [],
        "often": calendar.often(sheet, marks) if span is CalendarSpan.WEEK else [],
        "weeks": calendar.weeks(sheet, marks, now) if span is CalendarSpan.MONTH else [],
        "rhythms": rhythms,
        "refused": await call.app.db.read(listing.look),
        "zone": call.app.zone,
        "now": now,
        "part_of_hour": round(now.minute / 0.6),
        "href": _href,
        "here": _href(sheet.span, sheet.on),
        "said": _SAID.get(call.text("done") or "", ""),
        "undo": {"series": call.text("series") or "", "slot": call.text("slot") or ""},
    }
    if call.part:
        return shell.part("parts/sheet.html", values)
    return await shell.page(call, "pages/schedule.html", values)


@page("/schedule/{id}", "at", "back")
async def slot(call: Call) -> CallResult:
    """Show one future run: skip or move it."""
    return await _slot_page(call, call.text("at") or "", call.text("back") or "")


async def _slot_page(call: Call, text: str, back: str, wrong: str = "", to: str = "") -> CallResult:
    now, at = shell.local_now(call), codec.moment(text)
    found, one = await call.app.db.read(_slot, call.series_id, at, now)
    planned = (one.planned or one.at).astimezone(now.tzinfo)
    values = {
        "series": found,
        "slot": one,
        "words": row.in_words(found.repeats, now.tzinfo),
        "at": planned,
        "moved": _moved_from(one, now, _spread(call)),
        "to": to or f"{planned:%Y-%m-%dT%H:%M}",
        "least": f"{now:%Y-%m-%dT%H:%M}",
        "wrong": wrong,
        "utc": codec.stamp(one.at),
        "skipped": one.fate is SlotFate.SKIPPED,
        "back": shell.own_address("/schedule", back),
        "zone": call.app.zone,
        "now": now,
    }
    if call.part and not wrong:
        return shell.part("parts/slot.html", values)
    return await shell.page(call, "pages/slot.html", values, 422 if wrong else 200)


@page("/schedule/{id}/times", "back")
async def times(call: Call) -> CallResult:
    """Show when a series repeats, to be changed."""
    return await _times_page(call, call.text("back") or "")


async def _times_page(call: Call, back: str, wrong: str = "", every: str = "") -> CallResult:
    found, now = await call.app.db.read(series.find, call.series_id), shell.local_now(call)
    text = row.in_words(found.repeats, now.tzinfo)
    values = {
        "series": found,
        "words": text,
        "every": every or text,
        "wrong": wrong,
        "back": shell.own_address("/schedule", back),
        "zone": call.app.zone,
    }
    if call.part and not wrong:
        return shell.part("parts/times.html", values)
    return await shell.page(call, "pages/times.html", values, 422 if wrong else 200)


async def _asked_again(call: Call, body: SeriesForm, wrong: BadInput | Conflict) -> CallResult:
    """Show the form again that has fields to correct."""
    if isinstance(body, MoveSlotForm):
        return await _slot_page(call, body.at, body.back, str(wrong), body.to)
    if isinstance(body, RepeatForm):
        return await _times_page(call, body.back, str(wrong), body.every)
    raise wrong


def _order(verb: str, operation: Operation, kind: type[SeriesForm], done: str) -> Route:
    """Return the form that does something to a series; the sheet comes again with a word of it."""

    @form(f"/schedule/{{id}}/{verb}", operation, body=kind, refused=_asked_again)
    async def act(call: Call, body: SeriesForm) -> CallResult:
        given = _arguments(call, call.series_id, body)
        await operation.perform(call, convert(given, operation.arguments))
        back, slot = shell.own_address("/schedule", body.back), given.get("slot", "")
        undo = f"&series={given['id']}&slot={slot}" if operation is operations.skip_slot else ""
        return shell.redirect(shell.with_query(back, f"done={done}{undo}"))

    return act


def _arguments(call: Call, series: str, body: SeriesForm) -> dict[str, str]:
    given: dict[str, str] = {"id": series}
    if isinstance(body, SlotForm):
        given["slot"] = body.at
    if isinstance(body, RepeatForm):
        given["every"] = body.every
    if isinstance(body, MoveSlotForm):
        to = words.wall(body.to, call.app.zone)
        words.check_to_come(to, shell.local_now(call), "to")
        given["to"] = codec.stamp(to)
    return given


@form("/schedule/refused", see_calendar_refusal)
async def see_refusal(call: Call, refusal: RefusalForm) -> CallResult:
    """Mark a refused calendar event as seen; if it changes, it is shown again."""
    if not (await perform(call, refusal)).content["seen"]:
        sentence = "That event is not refused any more; look again."
        raise RequestRefused("not-found", sentence)
    return shell.redirect(REFUSED_HREF)


# What stands where --------------------------------------------------------------------------------


def look(
    tx: Tx, sheet: CalendarSheet, now: datetime, spread: timedelta
) -> tuple[list[CalendarMark], list[SeriesRow]]:
    """Return the marks of a sheet, and the series."""
    since, until = sheet.bounds(now.tzinfo)
    found = tasks.planned_between(tx, since, until)
    every = series.list_series(tx, limit=_SERIES)
    starts = agenda.list_between(tx, since, until)
    homes = {each.task_id: each.calendar for each in starts if each.task_id}
    shown = [task for task in found if not _is_skipped(task, now)]
    marks = [_mark(task, since, until, now.tzinfo, homes) for task in shown]
    marks += [_start(each, now.tzinfo) for each in starts if not each.task_id and each.at >= now]
    for each in every:
        ahead = slots_ahead(tx, each, since, until, now)
        marks += [_to_come(each, slot, sheet, now) for slot in ahead if slot.at >= since]
    rhythms = [_rhythm(tx, each, now, spread) for each in every]
    return marks, sorted(rhythms, key=_soonest)


def slots_ahead(
    tx: Tx, found: Series, since: datetime, until: datetime, now: datetime
) -> Iterator[Slot]:
    """Yield the slots of a series between two moments that have no task, skipped ones too."""
    if found.paused_at is not None:
        return
    yield from (each for each in series_orders.skipped_ahead(tx, found, now) if each.at < until)
    after = max(found.last, since - _MOMENT, now)
    for at in islice(takewhile(lambda at: at < until, rrule.slots(found.repeats, after)), _MOST):
        if at not in found.taken:
            yield Slot(found.id, at, SlotFate.SKIPPED if at in found.skips else None)


def _is_skipped(task: Task, now: datetime) -> bool:
    """Whether it was ended because its slot to come was skipped; the slot is shown instead."""
    at = task.slot or task.scheduled_for
    unbegun = task.status is Status.CANCELLED and task.series_id and task.started_at is None
    return bool(unbegun) and at is not None and at > now


def _mark(
    task: Task, since: datetime, until: datetime, zone: tzinfo | None, homes: Mapping[TaskId, str]
) -> CalendarMark:
    at = task.slot if task.ended and task.slot else task.scheduled_for
    if at is None or not since <= at < until:
        at = task.completed_at or task.last_updated
    state = words.state(task)
    if task.status is Status.READY:
        state = words.StatusLook("plan", "Scheduled", "clock")
    return CalendarMark(
        at=at.astimezone(zone),
        title=task.title,
        kind=state.kind,
        word=state.word,
        icon=state.icon,
        href=f"/tasks/{task.id}",
        series=task.series_id or "",
        calendar=homes.get(task.id) or _account(task),
    )


def _account(task: Task) -> str:
    """Return the calendar of a task whose event is not on the sheet or unknown."""
    from_calendar = task.source.kind is SourceKind.CALDAV
    return str(task.context.get("calendar", "calendar")) if from_calendar else ""


def _start(found: PlannedStart, zone: tzinfo | None) -> CalendarMark:
    """Return the mark of a calendar start without a task, which cannot be moved here."""
    return CalendarMark(
        at=found.at.astimezone(zone),
        title=found.title,
        kind="plan",
        word="Scheduled",
        icon="calendar",
        href="",
        series=f"event {found.uid}" if found.repeats else "",
        calendar=found.calendar,
    )


def _to_come(found: Series, slot: Slot, sheet: CalendarSheet, now: datetime) -> CalendarMark:
    at, skipped = slot.at.astimezone(now.tzinfo), slot.fate is SlotFate.SKIPPED
    return CalendarMark(
        at=at,
        title=found.title,
        kind="idle" if skipped else "plan",
        word="Skipped" if skipped else "Scheduled",
        icon="x" if skipped else "clock",
        href=_slot_href(found.id, at, _href(sheet.span, sheet.on)),
        series=found.id,
        opens=True,
    )


def _rhythm(tx: Tx, found: Series, now: datetime, spread: timedelta) -> SeriesRow:
    there = series_orders.coming(tx, found, now, _NEXT) if found.paused_at is None else []
    text = row.in_words(found.repeats, now.tzinfo)
    return SeriesRow(found, text, tuple(_run(each, now, spread) for each in there))


def _spread(call: Call) -> timedelta:
    """Return by how much a run may begin after its slot without having been moved."""
    return timedelta(seconds=call.app.settings.schedule.jitter)


def _moved_from(one: Slot, now: datetime, spread: timedelta) -> datetime | None:
    """Return the original time of a run that the owner moved."""
    late = (one.planned or one.at) - one.at
    return None if timedelta() <= late <= spread else one.at.astimezone(now.tzinfo)


def _run(one: Slot, now: datetime, spread: timedelta) -> PlannedRun:
    at = (one.planned or one.at).astimezone(now.tzinfo)
    return PlannedRun(
        at=at,
        href=_slot_href(one.series_id, one.at, ""),
        changes=at.utcoffset() != now.utcoffset(),
        moved=_moved_from(one, now, spread),
        skipped=one.fate is SlotFate.SKIPPED,
    )


def _soonest(rhythm: SeriesRow) -> tuple[bool, float, str]:
    at = rhythm.runs[0].at.timestamp() if rhythm.runs else 0.0
    return not rhythm.runs, at, rhythm.series.title


# What the address and the forms say ---------------------------------------------------------------


def _day(text: str | None, now: datetime) -> date:
    if text is None:
        return now.date()
    try:
        return date.fromisoformat(text)
    except ValueError:
        sentence = f"{text!r:.40} is no day; one looks like 2026-03-02."
        raise BadInput(sentence, field="on") from None


def _href(span: str, on: date | None = None) -> str:
    text = "" if span == CalendarSpan.WEEK else str(span)
    return line_address("/schedule", span=text, on=on.isoformat() if on else "")


def _slot_href(found: SeriesId, at: datetime, back: str) -> str:
    return line_address(f"/schedule/{found}", at=codec.stamp(at.astimezone(UTC)), back=back)


def _slot(tx: Tx, wanted: SeriesId, at: datetime, now: datetime) -> tuple[Series, Slot]:
    found = series.find(tx, wanted)
    there = series_orders.coming(tx, found, now, _FAR)
    one = next((each for each in there if each.at == at), None)
    if one is None:
        raise RequestRefused("not-found", f"Series {wanted} has no run to come at that time.")
    return found, one


_VERBS: Final = (
    ("pause", operations.pause_series, SeriesForm, "paused"),
    ("resume", operations.resume_series, SeriesForm, "resumed"),
    ("end", operations.end_series, SeriesForm, "ended"),
    ("skip", operations.skip_slot, SlotForm, "skipped"),
    ("unskip", operations.unskip_slot, SlotForm, "unskipped"),
    ("repeat", operations.repeat_series, RepeatForm, "changed"),
    ("move", operations.move_slot, MoveSlotForm, "moved"),
)
_SAID: Final = {done: operation.sentence for _, operation, _, done in _VERBS}
ORDERS: Final = tuple(_order(*each) for each in _VERBS)
