"""Operations on how Remit runs: channels, notices, calendars, saved filters, recall, lessons."""

from typing import Final

from msgspec.structs import replace

from remit.channels import pairing
from remit.errors import BadInput, NotFound, NotPossibleNow
from remit.model.caller import Scope
from remit.model.codec import JsonMap, stamp
from remit.model.delivery import Delivery
from remit.model.task import Cue, Priority, Source, SourceKind
from remit.operations import filters
from remit.operations import settings_arguments as args
from remit.operations.operation import Answer, Operation, OperationRequest
from remit.operations.shapes import changed_json, notice_to_json
from remit.operations.tasks import created
from remit.operations.texts import is_readable_line
from remit.store import calendars, task_filter
from remit.store.cues import StoredCue
from remit.store.task_filter import SavedView

DASHBOARD: Final = "dashboard"
_SETTINGS_FILE: Final = "settings.toml"


# Channels and notices -----------------------------------------------------------------------------


async def test_channel(request: OperationRequest, arguments: args.ChannelTest) -> Answer:
    """Send a marked message as any message is sent; the task shows the result."""
    name, house = arguments.name, request.house
    if name == DASHBOARD:
        raise NotPossibleNow(
            "The dashboard is Remit's own; there is nothing to test.", field="name"
        )
    if name not in house.outfit.channels:
        raise NotFound("channel", f"{name!r:.60}")
    mark = house.ids.ulid()[-4:]
    text = f"Test message {mark} from {house.settings.agent} on {name}. Nothing needs doing."
    title = f"Test the channel {name}"
    cue = Cue(
        source=Source(SourceKind.MANUAL, request.ref),
        title=title,
        text=title,
        delivery=(Delivery(name, arguments.to, text),),
        priority=Priority.HIGH,
    )
    return await created(request, await house.intake.admit(cue))


async def switch_channel_on(request: OperationRequest, arguments: args.SwitchChannelOn) -> Answer:
    return Answer(await request.house.permits.switch_on(arguments.name))


async def pair_channel(request: OperationRequest, arguments: args.PairChannel) -> Answer:
    """Make a code; whoever sends it to the channel first has its chat connected."""
    name, house = arguments.name, request.house
    section = house.settings.channels.get(name)
    if section is None or name not in house.outfit.channels:
        raise NotFound("channel", f"{name!r:.60}; a new one is known after a restart")
    code = pairing.new_code()
    link = section.pairing_link(code)
    if link is None:
        sentence = f"Chats on {name} are not connected by a code; enter the address instead."
        raise BadInput(sentence, field="name")
    contact = house.permits.contact_named(arguments.to) if arguments.to else None
    now = house.clock.now()
    until = await house.db.write(pairing.open_code, name, code, contact, now)
    content: JsonMap = {"code": code, "link": link, "contact": contact, "expiresAt": stamp(until)}
    return Answer(content)


async def test_notice(request: OperationRequest, arguments: args.TriedWay) -> Answer:
    sent = await request.house.herald.test(arguments.way)
    return Answer(notice_to_json(sent), value=sent)


# Calendars, cues, recall, lessons -----------------------------------------------------------------


async def sync_calendars(request: OperationRequest, _: args.SyncCalendars) -> Answer:
    found = await request.house.calendars.look()
    return Answer({"noted": sum(why is None for why in found.values())})


async def see_refusal(request: OperationRequest, arguments: args.RefusalForm) -> Answer:
    """Mark a refused calendar event as seen; if it changes, the owner is notified again."""
    where = arguments.account, arguments.calendar, arguments.path
    return Answer({"seen": await request.house.db.write(calendars.see, *where)})


async def start_cue(request: OperationRequest, arguments: args.StartCue) -> Answer:
    return Answer(cue_to_json(await request.house.doors.begin(arguments.id)))


def cue_to_json(kept: StoredCue) -> JsonMap:
    return {"cue": kept.name, "fate": kept.fate.value, "taskId": kept.task_id, "why": kept.why}


async def rebuild_recall(request: OperationRequest, _: args.RebuildRecall) -> Answer:
    """Delete the index; it is rebuilt in the background, see `GET /api/recall`."""
    await request.house.recollection.rebuild()
    return Answer(await request.house.recollection.state())


async def turn_recall_off(request: OperationRequest, _: args.TurnRecallOff) -> Answer:
    await request.house.recollection.turn_off()
    return Answer(await request.house.recollection.state())


async def look_back(request: OperationRequest, _: args.LookBack) -> Answer:
    return await created(request, await request.house.reflection.now())


async def revert(request: OperationRequest, arguments: args.Revert) -> Answer:
    return Answer(
        changed_json(await request.house.reflection.revert(arguments.change, force=arguments.force))
    )


# Saved filters ------------------------------------------------------------------------------------


async def list_views(request: OperationRequest) -> Answer:
    found = await request.house.db.read(task_filter.saved_views)
    return Answer({"views": [_view(each) for each in found]})


async def save_view(request: OperationRequest, arguments: args.NewView) -> Answer:
    name = arguments.name.strip()
    if "/" in name or not is_readable_line(name):
        raise BadInput("name must be one line that can be read, without a slash.", field="name")
    filters.typed(arguments.filter, filters.context(request.house))  # for what it refuses
    now = request.house.clock.now()
    await request.house.db.write(task_filter.save_view, name, arguments.filter, now)
    found = await request.house.db.read(task_filter.saved_views)
    return Answer(_view(next(each for each in found if each.name == name)))


async def remove_view(request: OperationRequest, arguments: args.RemoveView) -> Answer:
    await request.house.db.write(task_filter.delete_view, arguments.name)
    return await list_views(request)


def _view(view: SavedView) -> JsonMap:
    return {"name": view.name, "filter": view.filter, "createdAt": stamp(view.created_at)}


TEST_CHANNEL: Final = Operation(
    name="test_channel",
    arguments=args.ChannelTest,
    scope=Scope.ADMIN,
    effect=test_channel,
    summary="Send a marked test message; the task says what came of it",
    result="Task",
    sentence="A test message is on its way.",
    status=201,
    view=True,
)
PAIR_CHANNEL: Final = Operation(
    name="pair_channel",
    arguments=args.PairChannel,
    scope=Scope.ADMIN,
    effect=pair_channel,
    summary="Make a code that connects a chat with you or a contact, once, within 15 minutes",
    result="PairingCode",
    sentence="Send this code to the channel within 15 minutes.",
)
SWITCH_CHANNEL_ON: Final = Operation(
    name="switch_channel_on",
    arguments=args.SwitchChannelOn,
    scope=Scope.ADMIN,
    effect=switch_channel_on,
    summary="Use a channel again that was switched off; what waited for that goes on",
    result="SwitchedOn",
    sentence="The channel is used again.",
    bodiless=True,
)
SYNC_CALENDARS: Final = replace(
    SWITCH_CHANNEL_ON,
    name="sync_calendars",
    arguments=args.SyncCalendars,
    effect=sync_calendars,
    summary="Look at every calendar now",
    result="Noted",
    sentence="Every calendar was asked.",
)
START_CUE: Final = replace(
    SWITCH_CHANNEL_ON,
    name="start_cue",
    arguments=args.StartCue,
    effect=start_cue,
    summary="Start what came in and was kept without starting anything",
    result="Cue",
    sentence="What came in is started.",
)
REBUILD_RECALL: Final = replace(
    SWITCH_CHANNEL_ON,
    name="rebuild_recall",
    arguments=args.RebuildRecall,
    effect=rebuild_recall,
    summary="Make the index of tasks anew",
    result="Recall",
    sentence="The index of tasks is made anew.",
)
TURN_RECALL_OFF: Final = replace(
    REBUILD_RECALL,
    name="turn_recall_off",
    arguments=args.TurnRecallOff,
    effect=turn_recall_off,
    summary="Delete the index of tasks, and keep none until the settings are read again",
    sentence="The index of tasks is deleted.",
)
TEST_NOTICE: Final = Operation(
    name="test_notice",
    arguments=args.TriedWay,
    scope=Scope.ADMIN,
    effect=test_notice,
    summary="Send a test notice over one way; the answer says what came of it",
    result="Notice",
    sentence="A test notice was sent.",
)
LOOK_BACK: Final = replace(
    TEST_CHANNEL,
    name="look_back",
    arguments=args.LookBack,
    effect=look_back,
    summary="Look back on what ended, now; each lesson is a question to you",
    sentence="A task looks back on what ended.",
)
REVERT: Final = replace(
    TEST_NOTICE,
    name="revert_lesson",
    arguments=args.Revert,
    effect=revert,
    summary="Take a change of the rules or guidelines back",
    result="RuleChange",
    sentence="The change is taken back.",
    reveals=True,
)
SEE_REFUSAL: Final = replace(
    TEST_NOTICE,
    name="see_calendar_refusal",
    arguments=args.RefusalForm,
    scope=Scope.APPROVE,
    effect=see_refusal,
    summary="An event that starts nothing was seen",
    result="Page",
    page=True,
    sentence="You know of that event.",
)
SAVE_VIEW: Final = Operation(
    name="save_view",
    arguments=args.NewView,
    scope=Scope.WRITE,
    people="saved filters are for people",
    effect=save_view,
    summary="Keep a filter under a name; the same name again replaces it",
    result="View",
    sentence="The filter is saved.",
)
REMOVE_VIEW: Final = replace(
    SAVE_VIEW,
    name="remove_view",
    arguments=args.RemoveView,
    effect=remove_view,
    summary="Forget a view; the tasks stay",
    result="Views",
    sentence="The filter is forgotten.",
    reveals=True,
)
OPERATIONS: Final = (
    TEST_CHANNEL,
    PAIR_CHANNEL,
    SWITCH_CHANNEL_ON,
    SYNC_CALENDARS,
    START_CUE,
    REBUILD_RECALL,
    TURN_RECALL_OFF,
    TEST_NOTICE,
    LOOK_BACK,
    REVERT,
    SEE_REFUSAL,
    SAVE_VIEW,
    REMOVE_VIEW,
)
