"""Operations on series: pause, resume, end, other times; skip, un-skip or move one slot."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from remit.errors import BadInput, NotPossibleNow, OutOfDate
from remit.model.caller import Scope
from remit.model.codec import JsonMap
from remit.model.ids import SeriesId
from remit.model.recurrence import Series
from remit.operations import series_format
from remit.operations import settings_arguments as args
from remit.operations.arguments import SeriesArguments
from remit.operations.operation import (
    AgentRule,
    Answer,
    OperationRequest,
    etag_of,
    operation,
)
from remit.operations.series_format import COMING_SLOTS, series_with_history
from remit.operations.tasks import moment, repeats_of
from remit.owner import Owner

_Verb = Callable[[Owner, SeriesId], Awaitable[Series]]
_changes_series: Final = partial(
    operation, Scope.WRITE, "Series", agents=AgentRule.KNOWN, tagged=True
)


@_changes_series("Paused. Nothing runs until you resume it.")
async def pause_series(request: OperationRequest, arguments: args.PauseSeries) -> Answer:
    """Put in nothing more, and hold what waits for its time."""
    return await _change(Owner.pause_series, request, arguments)


@_changes_series("Resumed.")
async def resume_series(request: OperationRequest, arguments: args.ResumeSeries) -> Answer:
    """Go on with the next slot; those that came meanwhile are skipped."""
    return await _change(Owner.resume_series, request, arguments)


@_changes_series("Ended. Its history stays.")
async def end_series(request: OperationRequest, arguments: args.EndSeries) -> Answer:
    """Put in nothing more, and cancel what waits for its time."""
    return await _change(Owner.end_series, request, arguments)


async def _change(verb: _Verb, request: OperationRequest, arguments: SeriesArguments) -> Answer:
    series = await _check_series_version(request, arguments)
    await verb(request.owner, series)
    request.app.engine.nudge()
    return await look(request, series)


@_changes_series("That run is skipped.")
async def skip_slot(request: OperationRequest, arguments: args.SkipSlot) -> Answer:
    """Leave one slot out: the next one, if none is named."""
    slot, series = moment(arguments.slot, "slot"), await _check_series_version(request, arguments)
    await request.owner.skip_slot(series, slot)
    return await look(request, series)


@_changes_series("That run takes place after all.")
async def unskip_slot(request: OperationRequest, arguments: args.UnskipSlot) -> Answer:
    """Run a slot after all that was left out."""
    slot, series = moment(arguments.slot, "slot"), await _check_series_version(request, arguments)
    assert slot is not None  # noqa: S101 - a text is a moment, or refused
    await request.owner.unskip_slot(series, slot)
    request.app.engine.nudge()
    return await look(request, series)


@operation(
    Scope.WRITE, "Task", "That run is moved.", agents=AgentRule.KNOWN, view=True, tagged=True
)
async def move_slot(request: OperationRequest, arguments: args.MoveSlot) -> Answer:
    """Run one occurrence at another time: the next one, if none is named."""
    to, series = moment(arguments.to, "to"), await _check_series_version(request, arguments)
    assert to is not None  # noqa: S101 - a text is a moment, or refused
    task = await request.owner.move_slot(series, moment(arguments.slot, "slot"), to)
    request.app.engine.nudge()
    return Answer(await request.task_json(task))


@_changes_series("It now runs at these times.")
async def repeat_series(request: OperationRequest, arguments: args.RepeatSeries) -> Answer:
    """Run at other times from now on."""
    if (arguments.every is None) == (arguments.repeats is None):
        raise BadInput("Give every (words) or repeats (a rule), one of them.", field="every")
    series, now = await _check_series_version(request, arguments), request.app.clock.now()
    repeats = repeats_of(arguments.repeats, None)
    if arguments.every is not None:
        try:
            repeats = series_format.parse_frequency(arguments.every, request.app.zone, now)
        except BadInput as bad:  # words that cannot be read are no malformed request
            raise NotPossibleNow(str(bad), field="every") from None
    assert repeats is not None  # noqa: S101 - one of the two was given
    await request.owner.repeat_series(series, repeats)
    request.app.engine.nudge()
    return await look(request, series)


@_changes_series("The rules of the series are set.")
async def set_series_rules(request: OperationRequest, arguments: args.SeriesRules) -> Answer:
    """Say what becomes of its slots that are missed, or due while one is open."""
    series = await _check_series_version(request, arguments)
    await request.owner.rule_series(series, arguments.missed, arguments.overlap)
    return await look(request, series)


async def look(request: OperationRequest, series: SeriesId, coming: int = COMING_SLOTS) -> Answer:
    content = await _series_json(request, series, coming)
    # How many of the next slots are shown is no part of how the series stands.
    usual = content if coming == COMING_SLOTS else await _series_json(request, series, COMING_SLOTS)
    return Answer(content, etag=etag_of(usual))


async def _check_series_version(request: OperationRequest, arguments: SeriesArguments) -> SeriesId:
    """Return the series id, if the series is still as the caller saw it."""
    series = SeriesId(arguments.id)
    if request.version not in (None, etag_of(await _series_json(request, series, COMING_SLOTS))):
        raise OutOfDate(f"Series {series} has changed since you looked at it; look again.")
    return series


async def _series_json(request: OperationRequest, series: SeriesId, coming: int) -> JsonMap:
    return await request.app.db.read(series_with_history, series, request.app.clock.now(), coming)
