"""Operations on how Remit runs: access, channels, notices, calendars, filters, recall, lessons."""

import asyncio
from typing import Final

from remit.channels import pairing
from remit.channels.push import NEEDS
from remit.errors import BadInput, NotFound, NotPossibleNow
from remit.model.caller import ALL, Scope
from remit.model.codec import JsonMap, pick_fields, stamp
from remit.model.delivery import Delivery
from remit.model.task import Cue, Priority, Source, SourceKind
from remit.operations import callers, filters
from remit.operations import settings_arguments as args
from remit.operations.callers import CODE_LIFE, shape
from remit.operations.operation import Answer, OperationRequest, operation
from remit.operations.permission import NotAllowed
from remit.operations.shapes import changed_json, notice_to_json
from remit.operations.tasks import created_answer
from remit.operations.texts import is_readable_line
from remit.store import calendars, task_filter
from remit.store.callers import SignIn
from remit.store.cues import StoredCue
from remit.store.secrets import Secrets, machine_ring
from remit.store.task_filter import SavedView

# Access: tokens of programs, browser sessions, push subscriptions ---------------------------------

_SIGNED_IN: Final = "sig-"


@operation(
    Scope.ADMIN, "NewSecret", "The token is made; its secret is shown this once.", status=201
)
async def make_token(request: OperationRequest, arguments: args.NewToken) -> Answer:
    """Make a token; its secret is shown this once."""
    token, secret = await request.callers.make(
        request.caller,
        arguments.name,
        frozenset(arguments.scopes),
        agent=arguments.agent,
        days=arguments.days,
    )
    return Answer(
        {**shape(token), "secret": secret}, location=f"/api/tokens/{token.id}", value=token
    )


@operation(Scope.ADMIN, "Token", "The token opens nothing more.", bodiless=True)
async def revoke_token(request: OperationRequest, arguments: args.RevokeToken) -> Answer:
    """Take a token back; it opens nothing more, and its sockets are closed."""
    return Answer(shape(await request.callers.revoke(arguments.id)))


@operation(Scope.ADMIN, "Invitation", "The link signs one browser in, once.", status=201)
async def invite_browser(request: OperationRequest, _: args.InviteBrowser) -> Answer:
    """Make a link that signs a browser in, once, within 15 minutes."""
    if not all(request.caller.may(scope) for scope in ALL):
        sentence = "Who signs in may do everything, so only who may do everything invites."
        raise NotAllowed(sentence)
    link = await request.callers.link()
    until = request.app.clock.now() + CODE_LIFE
    return Answer({"url": link, "expiresAt": stamp(until)}, location="/api/sign-ins")


@operation(Scope.ADMIN, "SignIn", "The browser is signed out.", bodiless=True)
async def end_sign_in(request: OperationRequest, arguments: args.EndSignIn) -> Answer:
    """Sign a browser out."""
    found = {each.id: each for each in await request.callers.sign_ins()}
    if arguments.id not in found:
        raise NotFound("sign-in", arguments.id[:60])
    await request.callers.sign_out(arguments.id)
    return Answer(sign_in_to_json(found[arguments.id], request.key))


def sign_in_to_json(each: SignIn, key: str) -> JsonMap:
    return pick_fields(each, "id createdAt usedAt expiresAt") | {"here": each.id == key}


@operation(
    Scope.ADMIN,
    "PasswordState",
    "The password is set; other browsers must sign in again.",
    people="a password is for people",
)
async def set_password(request: OperationRequest, arguments: args.SetPassword) -> Answer:
    """Set the password that signs you in from elsewhere; other browsers are signed out."""
    settings = request.app.settings
    host = settings.server.public_url.removeprefix("https://").partition(".")[0]

    def keep() -> None:
        kept = Secrets(settings.home, machine_ring(settings.home))
        if arguments.password:
            kept.put(callers.SECRET, callers.hash_password(arguments.password))
        elif callers.SECRET in kept.names():
            kept.drop(callers.SECRET)

    if arguments.password:
        callers.refuse_weak(arguments.password, (settings.owner, settings.agent, host))
    await asyncio.to_thread(keep)
    for each in await request.callers.sign_ins():
        if each.id != request.key:
            await request.callers.sign_out(each.id)
    return Answer({"set": bool(arguments.password)})


@operation(Scope.APPROVE, "Push", "This browser is told.")
async def subscribe_push(request: OperationRequest, arguments: args.NewSubscription) -> Answer:
    """Tell this browser, as long as it is signed in."""
    sign_in = _browser(request)
    keys = arguments.keys
    await request.app.push.subscribe(sign_in, arguments.endpoint, keys.p256dh, keys.auth)
    return await push_state(request)


@operation(Scope.APPROVE, "Push", "This browser is told no more.")
async def unsubscribe_push(request: OperationRequest, _: args.RemoveSubscription) -> Answer:
    """Tell this browser no more."""
    await request.app.push.unsubscribe(_browser(request))
    return await push_state(request)


async def push_state(request: OperationRequest) -> Answer:
    push = request.app.push
    if not push.possible:
        return Answer({"possible": False, "why": NEEDS, "publicKey": None, "on": False})
    key, on = await push.public_key(), await push.is_on(request.key)
    return Answer({"possible": True, "why": None, "publicKey": key, "on": on})


def _browser(request: OperationRequest) -> str:
    """Return the caller's browser session: a push subscription ends with it."""
    if not request.key.startswith(_SIGNED_IN):
        sentence = "Only a browser that is signed in can be told; a token has none."
        raise NotAllowed(sentence)
    return request.key


DASHBOARD: Final = "dashboard"


# Channels and notices -----------------------------------------------------------------------------


@operation(Scope.ADMIN, "Task", "A test message is on its way.", status=201, view=True)
async def test_channel(request: OperationRequest, arguments: args.ChannelTest) -> Answer:
    """Send a marked test message; the task says what came of it."""
    name, app = arguments.name, request.app
    if name == DASHBOARD:
        raise NotPossibleNow(
            "The dashboard is Remit's own; there is nothing to test.", field="name"
        )
    if name not in app.outfit.channels:
        raise NotFound("channel", f"{name!r:.60}")
    mark = app.ids.ulid()[-4:]
    text = f"Test message {mark} from {app.settings.agent} on {name}. Nothing needs doing."
    title = f"Test the channel {name}"
    cue = Cue(
        source=Source(SourceKind.MANUAL, request.ref),
        title=title,
        text=title,
        delivery=(Delivery(name, arguments.to, text),),
        priority=Priority.HIGH,
    )
    return await created_answer(request, await app.intake.admit(cue))


@operation(Scope.ADMIN, "SwitchedOn", "The channel is used again.", bodiless=True)
async def switch_channel_on(request: OperationRequest, arguments: args.SwitchChannelOn) -> Answer:
    """Use a channel again that was switched off; what waited for that goes on."""
    return Answer(await request.app.permits.switch_on(arguments.name))


@operation(Scope.ADMIN, "PairingCode", "Send this code to the channel within 15 minutes.")
async def pair_channel(request: OperationRequest, arguments: args.PairChannel) -> Answer:
    """Make a code that connects a chat with you or a contact, once, within 15 minutes."""
    name, app = arguments.name, request.app
    section = app.settings.channels.get(name)
    if section is None or name not in app.outfit.channels:
        raise NotFound("channel", f"{name!r:.60}; a new one is known after a restart")
    code = pairing.new_code()
    link = section.pairing_link(code)
    if link is None:
        sentence = f"Chats on {name} are not connected by a code; enter the address instead."
        raise BadInput(sentence, field="name")
    contact = app.permits.contact_named(arguments.to) if arguments.to else None
    now = app.clock.now()
    until = await app.db.write(pairing.open_code, name, code, contact, now)
    content: JsonMap = {"code": code, "link": link, "contact": contact, "expiresAt": stamp(until)}
    return Answer(content)


@operation(Scope.ADMIN, "Notice", "A test notice was sent.")
async def test_notice(request: OperationRequest, arguments: args.TriedWay) -> Answer:
    """Send a test notice over one way; the answer says what came of it."""
    sent = await request.app.herald.test(arguments.way)
    return Answer(notice_to_json(sent), value=sent)


# Calendars, cues, recall, lessons -----------------------------------------------------------------


@operation(Scope.ADMIN, "Noted", "Every calendar was asked.", bodiless=True)
async def sync_calendars(request: OperationRequest, _: args.SyncCalendars) -> Answer:
    """Look at every calendar now."""
    found = await request.app.calendars.look()
    return Answer({"noted": sum(why is None for why in found.values())})


@operation(Scope.APPROVE, "Page", "You know of that event.", page=True)
async def see_calendar_refusal(request: OperationRequest, arguments: args.RefusalForm) -> Answer:
    """An event that starts nothing was seen."""
    where = arguments.account, arguments.calendar, arguments.path
    return Answer({"seen": await request.app.db.write(calendars.see, *where)})


@operation(Scope.ADMIN, "Cue", "What came in is started.", bodiless=True)
async def start_cue(request: OperationRequest, arguments: args.StartCue) -> Answer:
    """Start what came in and was kept without starting anything."""
    return Answer(cue_to_json(await request.app.doors.begin(arguments.id)))


def cue_to_json(kept: StoredCue) -> JsonMap:
    return {"cue": kept.name, **pick_fields(kept, "fate taskId why")}


@operation(Scope.ADMIN, "Recall", "The index of tasks is made anew.", bodiless=True)
async def rebuild_recall(request: OperationRequest, _: args.RebuildRecall) -> Answer:
    """Make the index of tasks anew."""
    await request.app.recollection.rebuild()
    return Answer(await request.app.recollection.state())


@operation(Scope.ADMIN, "Recall", "The index of tasks is deleted.", bodiless=True)
async def turn_recall_off(request: OperationRequest, _: args.TurnRecallOff) -> Answer:
    """Delete the index of tasks, and keep none until the settings are read again."""
    await request.app.recollection.turn_off()
    return Answer(await request.app.recollection.state())


@operation(Scope.ADMIN, "Task", "A task looks back on what ended.", status=201, view=True)
async def look_back(request: OperationRequest, _: args.LookBack) -> Answer:
    """Look back on what ended, now; each lesson is a question to you."""
    return await created_answer(request, await request.app.reflection.now())


@operation(Scope.ADMIN, "RuleChange", "The change is taken back.", reveals=True)
async def revert_lesson(request: OperationRequest, arguments: args.Revert) -> Answer:
    """Take a change of the rules or guidelines back."""
    return Answer(
        changed_json(await request.app.reflection.revert(arguments.change, force=arguments.force))
    )


# Saved filters ------------------------------------------------------------------------------------


async def list_views(request: OperationRequest) -> Answer:
    found = await request.app.db.read(task_filter.saved_views)
    return Answer({"views": [_view(each) for each in found]})


@operation(Scope.WRITE, "View", "The filter is saved.", people="saved filters are for people")
async def save_view(request: OperationRequest, arguments: args.NewView) -> Answer:
    """Keep a filter under a name; the same name again replaces it."""
    name = arguments.name.strip()
    if "/" in name or not is_readable_line(name):
        raise BadInput("name must be one line that can be read, without a slash.", field="name")
    filters.parse_filter(arguments.filter, filters.context(request.app))  # for what it refuses
    now = request.app.clock.now()
    await request.app.db.write(task_filter.save_view, name, arguments.filter, now)
    found = await request.app.db.read(task_filter.saved_views)
    return Answer(_view(next(each for each in found if each.name == name)))


@operation(
    Scope.WRITE,
    "Views",
    "The filter is forgotten.",
    reveals=True,
    people="saved filters are for people",
)
async def remove_view(request: OperationRequest, arguments: args.RemoveView) -> Answer:
    """Forget a view; the tasks stay."""
    await request.app.db.write(task_filter.delete_view, arguments.name)
    return await list_views(request)


def _view(view: SavedView) -> JsonMap:
    return pick_fields(view, "name filter createdAt")
