"""Operations on series: pause, resume, end, other times; skip, un-skip or move one slot."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from msgspec.structs import replace

from remit.errors import BadInput, NotPossibleNow, OutOfDate
from remit.model.caller import Scope
from remit.model.codec import JsonMap
from remit.model.ids import SeriesId
from remit.model.series import Series
from remit.operations import frequency
from remit.operations import settings_arguments as args
from remit.operations.arguments import SeriesArguments
from remit.operations.operation import AgentRule, Answer, Operation, OperationRequest, etag_of
from remit.operations.series_json import NEXT, whole
from remit.operations.tasks import moment, repeats_of
from remit.owner import Owner

_Verb = Callable[[Owner, SeriesId], Awaitable[Series]]


async def _change(verb: _Verb, request: OperationRequest, arguments: SeriesArguments) -> Answer:
    series = await _unchanged(request, arguments)
    await verb(request.owner, series)
    request.house.engine.nudge()
    return await look(request, series)


async def skip(request: OperationRequest, arguments: args.SkipSlot) -> Answer:
    slot, series = moment(arguments.slot, "slot"), await _unchanged(request, arguments)
    await request.owner.skip_slot(series, slot)
    return await look(request, series)


async def move(request: OperationRequest, arguments: args.MoveSlot) -> Answer:
    to, series = moment(arguments.to, "to"), await _unchanged(request, arguments)
    assert to is not None  # noqa: S101 - a text is a moment, or refused
    task = await request.owner.move_slot(series, moment(arguments.slot, "slot"), to)
    request.house.engine.nudge()
    return Answer(await request.task_json(task))


async def unskip(request: OperationRequest, arguments: args.UnskipSlot) -> Answer:
    slot, series = moment(arguments.slot, "slot"), await _unchanged(request, arguments)
    assert slot is not None  # noqa: S101 - a text is a moment, or refused
    await request.owner.unskip_slot(series, slot)
    request.house.engine.nudge()
    return await look(request, series)


async def repeat(request: OperationRequest, arguments: args.RepeatSeries) -> Answer:
    if (arguments.every is None) == (arguments.repeats is None):
        raise BadInput("Give every (words) or repeats (a rule), one of them.", field="every")
    series, now = await _unchanged(request, arguments), request.house.clock.now()
    repeats = repeats_of(arguments.repeats, None)
    if arguments.every is not None:
        try:
            repeats = frequency.parse(arguments.every, request.house.zone, now)
        except BadInput as bad:  # words that cannot be read are no malformed request
            raise NotPossibleNow(str(bad), field="every") from None
    assert repeats is not None  # noqa: S101 - one of the two was given
    await request.owner.repeat_series(series, repeats)
    request.house.engine.nudge()
    return await look(request, series)


async def set_rules(request: OperationRequest, arguments: args.SeriesRules) -> Answer:
    series = await _unchanged(request, arguments)
    await request.owner.rule_series(series, arguments.missed, arguments.overlap)
    return await look(request, series)


async def look(request: OperationRequest, series: SeriesId, coming: int = NEXT) -> Answer:
    content = await _series_json(request, series, coming)
    # How many of the next slots are shown is no part of how the series stands.
    usual = content if coming == NEXT else await _series_json(request, series, NEXT)
    return Answer(content, etag=etag_of(usual))


async def _unchanged(request: OperationRequest, arguments: SeriesArguments) -> SeriesId:
    """Return the series id, if the series is still as the caller saw it."""
    series = SeriesId(arguments.id)
    if request.version not in (None, etag_of(await _series_json(request, series, NEXT))):
        raise OutOfDate(f"Series {series} has changed since you looked at it; look again.")
    return series


async def _series_json(request: OperationRequest, series: SeriesId, coming: int) -> JsonMap:
    return await request.house.db.read(whole, series, request.house.clock.now(), coming)


PAUSE: Final = Operation(
    name="pause_series",
    arguments=args.PauseSeries,
    scope=Scope.WRITE,
    agents=AgentRule.KNOWN,
    effect=partial(_change, Owner.pause_series),
    summary="Put in nothing more, and hold what waits for its time",
    result="Series",
    sentence="Paused. Nothing runs until you resume it.",
    tagged=True,
)
RESUME: Final = replace(
    PAUSE,
    name="resume_series",
    arguments=args.ResumeSeries,
    effect=partial(_change, Owner.resume_series),
    summary="Go on with the next slot; those that came meanwhile are skipped",
    sentence="Resumed.",
)
END: Final = replace(
    PAUSE,
    name="end_series",
    arguments=args.EndSeries,
    effect=partial(_change, Owner.end_series),
    summary="Put in nothing more, and cancel what waits for its time",
    sentence="Ended. Its history stays.",
)
SKIP: Final = replace(
    PAUSE,
    name="skip_slot",
    arguments=args.SkipSlot,
    effect=skip,
    summary="Leave one slot out: the next one, if none is named",
    sentence="That run is skipped.",
)
MOVE: Final = replace(
    PAUSE,
    name="move_slot",
    arguments=args.MoveSlot,
    effect=move,
    summary="Run one occurrence at another time: the next one, if none is named",
    result="Task",
    sentence="That run is moved.",
    view=True,
)
UNSKIP: Final = replace(
    PAUSE,
    name="unskip_slot",
    arguments=args.UnskipSlot,
    effect=unskip,
    summary="Run a slot after all that was left out",
    sentence="That run takes place after all.",
)
REPEAT: Final = replace(
    PAUSE,
    name="repeat_series",
    arguments=args.RepeatSeries,
    effect=repeat,
    summary="Run at other times from now on",
    sentence="It now runs at these times.",
)
RULES: Final = replace(
    PAUSE,
    name="set_series_rules",
    arguments=args.SeriesRules,
    effect=set_rules,
    summary="Say what becomes of its slots that are missed, or due while one is open",
    sentence="The rules of the series are set.",
)
OPERATIONS: Final = (PAUSE, RESUME, END, SKIP, UNSKIP, MOVE, REPEAT, RULES)
