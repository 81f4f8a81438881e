"""`remit schedule`: list series and their next runs; change one slot or a whole series."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Annotated, Final, TypeAlias
from zoneinfo import ZoneInfo

from remit import settings as app_settings
from remit.cli import clock, codes, out, remit_client
from remit.cli import words as cli_words
from remit.cli.commands import CommandGroup
from remit.cli.out import AsJson, Piece, StyledText, flag, free, number_flag
from remit.errors import BadInput, NotFound
from remit.model import rrule
from remit.model.codec import JsonMap, moment, stamp
from remit.model.ids import SeriesId
from remit.model.recurrence import OnMissed, Overlap, Repeats, Series, Slot, SlotFate
from remit.model.rrule import ClockChange, zone_of
from remit.model.task import SourceKind
from remit.operations import series_format
from remit.operations.arguments import NewRepeats, SeriesArguments
from remit.operations.settings_arguments import (
    EndSeries,
    MoveSlot,
    PauseSeries,
    RepeatSeries,
    ResumeSeries,
    SeriesRules,
    SkipSlot,
    UnskipSlot,
)
from remit.settings import Settings
from remit.store import agenda, series, series_orders, tasks
from remit.store.agenda import PlannedStart
from remit.store.database import Tx
from remit.store.read_only import open_read_only
from remit.system.owner_zone import find_owner_zone, show_moment
from remit.triggers import cron as triggers_cron

_MOST: Final = 500
_COUNT: Final = number_flag("How many slots.", most=_MOST)
_PREVIEW: Final = 5
_SAID: Final = {
    ClockChange.GAP: "the clocks go forward: this is so much later",
    ClockChange.FOLD: "this time comes twice: the first is meant",
}

_Series: TypeAlias = Annotated[str, flag("The id of a series, or of one of its tasks.")]
_Slot: TypeAlias = Annotated[str | None, flag("The slot, with offset; default: the next.")]
_LATE: Final = (SlotFate.LATE, SlotFate.CAUGHT_UP)
_STYLES: Final[dict[SlotFate | None, str]] = {
    SlotFate.RAN: "green",
    SlotFate.LATE: "yellow",
    SlotFate.CAUGHT_UP: "yellow",
    SlotFate.MISSED: "red",
}

app = CommandGroup("schedule")


@app.default
@app.command("ls")
def listed(
    *,
    ended: Annotated[bool, flag("Also list ended series.", "--ended")] = False,
    json: AsJson = False,
) -> int:
    """List repeating tasks: how often, and when next."""
    settings, now = app_settings.load(), clock.now()
    with open_read_only(settings.database) as tx:
        found = series.list_series(tx, ended=ended, limit=_MOST)
        events = agenda.next_of_each(tx, now, _MOST)
        content: JsonMap = {
            "series": [series_format.series_to_json(tx, each, now, 1) for each in found],
            "events": [_event(each, settings) for each in events],
        }
        rows = [_row(tx, each, now, _zone(settings)) for each in found]
        rows += [_event_row(tx, each, _zone(settings)) for each in events]
    empty = 'No repeating tasks yet; `remit add "…" --every "weekday at 8:30"` makes it.'
    return out.listing(json, content, rows, ("ID", "NEXT", "OFTEN", "TITLE"), empty)


@app.command("next")
def coming(
    count: Annotated[int, number_flag("How many slots.", most=_MOST)] = 10,
    /,
    *,
    json: AsJson = False,
) -> int:
    """List what starts next, from series and calendars, soonest first."""
    settings, now = app_settings.load(), clock.now()
    with open_read_only(settings.database) as tx:
        events = agenda.to_come(tx, now, _MOST)
        found = [
            (each, slot)
            for each in series.list_series(tx, limit=_MOST)
            if each.paused_at is None
            for slot in series_orders.coming(tx, each, now, count)
        ]
        refs = {each.id: _short(tx, each.id) for each, _ in found}
    zone = _zone(settings)
    # When, for a program, for a person.
    lines = [
        (slot.planned or slot.at, _slot(each, slot), [*_slot_row(each, slot, zone), refs[each.id]])
        for each, slot in found
    ]
    lines += [
        (
            each.at,
            _event(each, settings),
            [show_moment(each.at, zone), StyledText("to come", "dim"), each.title, _from(each)],
        )
        for each in events
    ]
    soonest = sorted(lines, key=itemgetter(0))[:count]
    return out.listing(
        json, {"slots": [slot_json for _, slot_json, _ in soonest]}, [row for *_, row in soonest]
    )


@app.command()
def preview(
    words: Annotated[str | None, free("How often: 'every weekday at 8:30', or 2h.")] = None,
    /,
    *,
    cron: Annotated[str | None, flag("A cron line instead: '30 8 * * 1-5'.")] = None,
    tz: Annotated[str | None, flag("The time zone; default: yours.")] = None,
    count: Annotated[int, number_flag("How many slots.", "--count", "-n", most=_MOST)] = _PREVIEW,
    json: AsJson = False,
) -> int:
    """Show when something would repeat, clock changes included; nothing is stored."""
    repeats = _repeats(app_settings.load(), words, cron, tz)
    found = list(islice(rrule.slots(repeats, clock.now()), count))
    zone = zone_of(repeats.zone)
    if json:
        slots = [series_format.slot_to_json(Slot(SeriesId(""), at), repeats) for at in found]
        rows = [{name: each[name] for name in ("slot", "local", "flags")} for each in slots]
        out.emit({"rule": repeats.rule, "zone": repeats.zone, "slots": [*rows]})
        return codes.DONE
    out.hint(rrule.in_words(repeats))
    for at in found:
        text = "; ".join(_SAID[each] for each in sorted(rrule.flags(repeats, at)))
        out.line(show_moment(at, zone), StyledText(f"  {text}" if text else "", "yellow"))
    return codes.DONE


@app.command()
def show(
    series_id: _Series,
    /,
    *,
    days: Annotated[int, number_flag("How many days back.")] = 30,
    json: AsJson = False,
) -> int:
    """Show the past and coming slots of a series."""
    settings, now = app_settings.load(), clock.now()
    with open_read_only(settings.database) as tx:
        found = series.find(tx, _find_series(tx, series_id))
        if json:
            out.emit(series_format.series_with_history(tx, found.id, now))
            return codes.DONE
        became = series_orders.slots_of_series(
            tx, found.id, now - timedelta(days=days), now + timedelta(seconds=1)
        )
        ahead = series_orders.coming(tx, found, now, _PREVIEW)
    zone = _zone(settings)
    out.line(StyledText(found.title, "bold"))
    out.line(rrule.in_words(found.repeats), _state(found))
    seen = {slot.at for slot in became}
    coming = [slot for slot in ahead if slot.at not in seen]
    out.table([_slot_row(found, slot, zone) for slot in (*became, *coming)])
    return codes.DONE


@app.command()
def skip(series_id: _Series, /, *, slot: _Slot = None, json: AsJson = False) -> int:
    """Skip one slot; default: the next."""
    return _change(series_id, partial(SkipSlot, slot=_stamp(slot)), json=json)


@app.command()
def unskip(
    series_id: _Series,
    /,
    *,
    slot: Annotated[str, flag("The slot, with offset, as `remit schedule show` prints it.")],
    json: AsJson = False,
) -> int:
    """Run a skipped slot after all."""
    return _change(series_id, partial(UnskipSlot, slot=stamp(moment(slot))), json=json)


@app.command()
def move(
    series_id: _Series,
    /,
    *,
    to: Annotated[str, flag("The new time, with offset.")],
    slot: _Slot = None,
    json: AsJson = False,
) -> int:
    """Run one slot at another time; the others stay."""
    moved = stamp(triggers_cron.parse_moment(to, clock.now()))
    return _change(series_id, partial(MoveSlot, to=moved, slot=_stamp(slot)), json=json)


@app.command()
def repeat(
    series_id: _Series,
    words: Annotated[str | None, free("How often: 'every weekday at 8:30', or 2h.")] = None,
    /,
    *,
    cron: Annotated[str | None, flag("A cron line instead: '30 8 * * 1-5'.")] = None,
    tz: Annotated[str | None, flag("The time zone; default: yours.")] = None,
    json: AsJson = False,
) -> int:
    """Repeat a series at other times from now on."""
    repeats = _repeats(app_settings.load(), words, cron, tz)
    rule = NewRepeats.from_series(repeats)
    return _change(series_id, partial(RepeatSeries, repeats=rule), json=json)


def _on_series(name: str, kind: Callable[[str], SeriesArguments], text: str) -> None:
    """Register a command that does one thing to a series; `text` is its help."""

    def act(series_id: _Series, /, *, json: AsJson = False) -> int:
        return _change(series_id, kind, json=json)

    act.__doc__ = text
    app.command(name)(act)


_on_series("pause", PauseSeries, "Add no more tasks until you resume the series.")
_on_series(
    "resume", ResumeSeries, "Continue with the next slot; slots missed meanwhile are skipped."
)
_on_series("end", EndSeries, "End a series; running work goes on.")


@app.command("set")
def rules(
    series_id: _Series,
    /,
    *,
    missed: Annotated[OnMissed | None, flag("Missed slots: skip, run_once or run_all.")] = None,
    overlap: Annotated[
        Overlap | None, flag("Due while another runs: skip, queue_one, queue_all or cancel_other.")
    ] = None,
    json: AsJson = False,
) -> int:
    """Choose what happens to missed or overlapping slots; default: from the settings."""
    if missed is None and overlap is None:
        raise BadInput("Say --missed or --overlap.", field="missed")
    return _change(series_id, partial(SeriesRules, missed=missed, overlap=overlap), json=json)


def _repeats(settings: Settings, words: str | None, cron: str | None, tz: str | None) -> Repeats:
    if words is None and cron is None:
        raise BadInput("How often? Say it in words, or with --cron.", field="every")
    return series_format.read_frequency(settings, words, cron, tz, clock.now())


def _change(text: str, kind: Callable[[str], SeriesArguments], *, json: bool) -> int:
    settings = app_settings.load()
    with open_read_only(settings.database) as tx:
        series_id = _find_series(tx, text)
    with remit_client.open_client(settings) as way:
        way.ask(kind(series_id))
    with open_read_only(settings.database) as tx:
        found = series.find(tx, series_id)
        series_json = series_format.series_to_json(tx, found, clock.now(), 1)
        row = _row(tx, found, clock.now(), _zone(settings))
    return out.listing(json, series_json, [row])


def _find_series(tx: Tx, text: str) -> SeriesId:
    """Return the series meant by a prefix of its id, or by one of its tasks."""
    kind = "task" if text.strip().lower().startswith("task-") else "ser"
    letters = cli_words.letters_of(text, kind)
    fitting = series.ids_like(tx, f"ser-{letters}") if kind == "ser" else []
    if len(fitting) > 1:
        raise BadInput(cli_words.ambiguous(text, fitting), field="id")
    if fitting:
        return fitting[0]
    task = tasks.get(tx, cli_words.find_task(tx, f"task-{letters}"))
    if task.source.kind is SourceKind.CALDAV:
        raise BadInput(
            f"Task {task.id} comes from a calendar; change its event there, in your calendar.",
            field="id",
        )
    if task.series_id is None:
        raise NotFound("series", cli_words.shorten(text))
    return task.series_id


def _short(tx: Tx, series_id: SeriesId) -> str:
    letters = series_id.removeprefix("ser-")
    for length in (10, 14, 18):
        if len(series.ids_like(tx, f"ser-{letters[:length]}")) == 1:
            return letters[:length]
    return letters


def _row(tx: Tx, found: Series, now: datetime, zone: ZoneInfo) -> list[Piece]:
    run = series_orders.next_run(tx, found, now) if found.paused_at is None else None
    soon = show_moment(run.planned or run.at, zone) if run else "-"
    state = _state(found)
    when: Piece = state if state.text else soon
    often = rrule.in_words(found.repeats)
    return [StyledText(_short(tx, found.id), "dim"), when, often, found.title]


def _state(found: Series) -> StyledText:
    if found.ended_at is not None:
        return StyledText(f" ended: {found.why}", "dim")
    return StyledText(" paused" if found.paused_at else "", "yellow")


def _slot_row(found: Series, slot: Slot, zone: ZoneInfo) -> list[Piece]:
    at = show_moment(slot.planned or slot.at, zone)
    late = (
        f" by {timedelta(seconds=round(slot.late.total_seconds()))}"
        if slot.late and slot.fate in _LATE
        else ""
    )
    fate = f"{slot.fate.value.replace('_', ' ')}{late}" if slot.fate else "to come"
    flags = [_SAID[each] for each in sorted(rrule.flags(found.repeats, slot.at))]
    why = slot.why or "; ".join(flags) or found.title
    return [at, StyledText(fate, _STYLES.get(slot.fate, "dim")), why]


def _slot(found: Series, slot: Slot) -> JsonMap:
    content: JsonMap = {"series": found.id, "title": found.title, "calendar": None}
    return content | series_format.slot_to_json(slot, found.repeats)


# What calendars start: it is looked at here, and changed there ------------------------------------


def _event(found: PlannedStart, settings: Settings) -> JsonMap:
    return {
        "series": None,
        "title": found.title,
        "calendar": found.calendar,
        "slot": stamp(found.at),
        "plannedFor": None,
        "local": found.at.astimezone(_zone(settings)).replace(microsecond=0).isoformat(),
        "taskId": found.task_id,
        "fate": None,
        "why": None,
        "startedAt": None,
        "late": None,
        "flags": [],
    }


def _event_row(tx: Tx, found: PlannedStart, zone: ZoneInfo) -> list[Piece]:
    ref = f"task-{cli_words.short_id(tx, found.task_id)}" if found.task_id else "-"
    return [StyledText(ref, "dim"), show_moment(found.at, zone), _from(found), found.title]


def _from(found: PlannedStart) -> str:
    return f"from the calendar {found.calendar}"


def _zone(settings: Settings) -> ZoneInfo:
    return find_owner_zone(settings.zone).zone


def _stamp(text: str | None) -> str | None:
    return stamp(moment(text)) if text is not None else None
