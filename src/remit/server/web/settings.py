"""The settings page: what the owner may change here, what only the file sets, and its forms."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Annotated, Final, TypeAlias, cast

from msgspec import Meta, Struct, to_builtins
from msgspec.structs import replace

from remit import __version__
from remit.channels.push import NEEDS
from remit.contacts.book import FILE
from remit.errors import BadInput, Conflict, RemitError
from remit.model import ids
from remit.model.caller import Scope
from remit.model.conversation import CONVERSATION, DIGEST, PUSH, Notice, NoticeState
from remit.model.reply import Policy
from remit.operations import contacts, upkeep
from remit.operations.callers import is_set
from remit.operations.sections import SAVED
from remit.operations.settings_arguments import (
    ChangedContact,
    ChannelTest,
    NewPermission,
    NewToken,
    RemoveContact,
    SetPassword,
    TriedWay,
)
from remit.operations.table import perform
from remit.server.bodies import RequestBody
from remit.server.call import Call, CallResult
from remit.server.problem import RequestRefused
from remit.server.routes import Refused, form, page
from remit.server.web import connect, section_forms, settings_sections, shell, task_sections
from remit.settings.channels import kinds
from remit.settings.forms import NOTICES, SectionForm, names_in
from remit.store import notices

Values: TypeAlias = dict[str, object]


@page("/settings", scope=Scope.ADMIN)
async def front(_: Call) -> CallResult:
    return shell.redirect("/settings/brain")


@page("/settings/{section}", "test", "saved", scope=Scope.ADMIN)
async def look(call: Call) -> CallResult:
    name = call.path["section"]
    if name not in SECTIONS:
        raise RequestRefused("not-found", "There is no such part of the settings.")
    return await section(call, name)


async def section(
    call: Call, name: str, more: Mapping[str, object] | None = None, status: int = 200
) -> CallResult:
    """Return one section of the settings, with the result of an action."""
    _, _, values_of = SECTIONS[name]
    values = {
        "section": name,
        "sections": [(each, icon, title) for each, (icon, title, _) in SECTIONS.items()],
        "wrong": None,
        "said": SAVED if call.text("saved") else None,
        "zone": call.app.zone,
        **await values_of(call),
        **(more or {}),
    }
    return await shell.page(call, "pages/settings.html", values, status)


@page("/settings/channels/test/{task}", scope=Scope.ADMIN)
async def trial(call: Call) -> CallResult:
    """Return the progress of a channel test."""
    task_id = ids.task_id(call.path["task"])
    found = await call.app.db.read(settings_sections.read_channel_test, task_id)
    return shell.part("parts/trial.html", {"trial": found})


async def _you(call: Call) -> Values:
    return {"forms": await section_forms.forms_of(call, "you")}


async def _brain(call: Call) -> Values:
    forms = await section_forms.forms_of(call, "brain", "budget", "web")
    settings = await section_forms.now_in_file(call)
    mind = await asyncio.to_thread(settings_sections.brain_section, call, settings)
    return {"mind": mind, "forms": forms, "removable": bool(settings.brain.model)}


async def _inbound(call: Call) -> Values:
    return {table: await _many(call, table) for table in ("doors", "hooks", "folders")}


async def _calendars(call: Call) -> Values:
    forms = await section_forms.forms_of(call, "calendar")
    offered = connect.OFFERED["calendars"]
    return {"accounts": await _many(call, "calendars"), "forms": forms, "offered": offered}


async def _many(call: Call, table: str) -> list[SectionForm]:
    return await section_forms.forms_of(
        call, *names_in(table, await section_forms.now_in_file(call))
    )


async def _channels(call: Call) -> Values:
    here, sections = call.app.settings.channels, await section_forms.now_in_file(call)
    return {
        "ways": await settings_sections.channel_sections(call),
        "trial": await section_forms.trial(call),
        "accounts": connect.OFFERED["channels"],
        "coming": [name for name in sections.channels if name not in here],
        "kinds": [(kind, each.service) for kind, each in kinds().items()],
    }


async def _contacts(call: Call) -> Values:
    settings = call.app.settings
    values: Values = {
        "called": task_sections.channel_labels(settings.channels),
        "policies": list(Policy),
    }
    forms = await section_forms.forms_of(call, "contacts")
    values |= {"forms": forms, "people": (), "others": ()}
    try:
        listed = await call.app.permits.listed()
    except RemitError as error:
        return values | {"wrong": str(error)}
    return values | {"people": listed["contacts"], "others": listed["others"]}


async def _policies(call: Call) -> Values:
    listed: Mapping[str, object] = {}
    forms = await section_forms.forms_of(call, "deliver")
    try:
        listed = await call.app.permits.listed()
    except RemitError as error:
        return {"wrong": str(error), "tools": (), "standing": (), "forms": forms}
    people = settings_sections.contacts_of(listed)
    permissions = [one for each in people if isinstance(each, dict) for one in each["permissions"]]
    others = listed["others"]
    settings = call.app.settings
    return {
        "forms": forms,
        "tools": settings_sections.tools(settings),
        "standing": [*permissions, *(others if isinstance(others, list) else [])],
        "called": task_sections.channel_labels(settings.channels),
        "since": lambda at: datetime.fromisoformat(at) if at else None,
    }


async def _tokens(call: Call) -> Values:
    return {
        "forms": await section_forms.forms_of(call, "server"),
        "has_password": await asyncio.to_thread(is_set, call.app.settings.home),
        "tokens": await call.callers.tokens(),
        "sign_ins": await call.callers.sign_ins(),
        "mine": call.key,
        "scopes": list(Scope),
        "secret": None,
        "form": {},
    }


async def _about_values(call: Call) -> Values:
    has_file = not call.app.settings.store.url
    found = await settings_sections.health_findings(call)
    return {"findings": found, "version": __version__, "has_file": has_file}


_LATELY: Final = 12
_OWN: Final = {CONVERSATION: "Conversation", PUSH: "Browser", DIGEST: "Digest"}
_STATES: Final[Mapping[NoticeState, tuple[str, str, str]]] = {
    NoticeState.NEW: ("idle", "Waits", "clock"),
    NoticeState.CLAIMED: ("run", "On its way", "run"),
    NoticeState.SENT: ("ok", "Sent", "done"),
    NoticeState.UNKNOWN: ("you", "Nobody knows", "ask"),
    NoticeState.FAILED: ("bad", "Failed", "fail"),
    NoticeState.DROPPED: ("idle", "Not needed", "x"),
}


class NoticeLine(Struct, frozen=True):
    """A sent or waiting notice."""

    notice: Notice
    title: str
    way: str
    colour: str
    word: str
    mark: str


async def notices_section(call: Call) -> dict[str, object]:
    """Return all that the section shows."""
    app = call.app
    wishes, push = app.wishes.notices, app.push
    every = notice_ways(call)
    names = {name: word for name, word in every.items() if name not in _OWN}
    found = await app.db.read(notices.recent, None, _LATELY)
    return {
        "push": push.possible,
        "pushed": push.possible and await push.is_on(call.key),
        "needs": NEEDS,
        "named": wishes.push == "title",
        "form": (await section_forms.forms_of(call, NOTICES))[0],
        "ways": list(every.items()),
        "tried": [(CONVERSATION, "Conversation"), (PUSH, "Browser"), *names.items()],
        "quiet": app.settings.deliver.quiet,
        "lately": [_notice_line(each, every) for _, each in found],
    }


def test_result_sentence(notice: Notice, names: Mapping[str, str]) -> str:
    """Return the result of a test, in a sentence."""
    _, word, _ = _STATES[notice.state]
    return f"{names.get(notice.way, notice.way)}: {word.lower()}. {notice.why or ''}".rstrip()


def notice_ways(call: Call) -> dict[str, str]:
    """Return every way by its name for people."""
    called = task_sections.channel_labels(call.app.settings.channels)
    return {**_OWN, **{name: called[name] for name in call.app.settings.channels}}


def _notice_line(notice: Notice, called: Mapping[str, str]) -> NoticeLine:
    colour, word, mark = _STATES[notice.state]
    title = notice.telling.title or "Without a title"
    return NoticeLine(notice, title, called.get(notice.way, notice.way), colour, word, mark)


# Each part by its address: its icon, its title, and what it shows.
SECTIONS: Final[Mapping[str, tuple[str, str, Callable[[Call], Awaitable[Values]]]]] = {
    "you": ("user", "You", _you),
    "brain": ("bolt", "Model", _brain),
    "channels": ("send", "Channels", _channels),
    "inbound": ("inbox", "Coming in", _inbound),
    "calendars": ("calendar", "Calendars", _calendars),
    "contacts": ("user", "Contacts", _contacts),
    "policies": ("shield", "Policies", _policies),
    "priority": ("filter", "Priority", settings_sections.priority_section),
    "projects": ("term", "Projects", settings_sections.projects_section),
    "notices": ("bell", "Notices", notices_section),
    "tokens": ("link", "Access", _tokens),
    "about": ("doc", "About", _about_values),
}


# Forms --------------------------------------------------------------------------------------------

_NAME: Final = 200
_GONE: Final = "The password is removed; nobody signs in with one."


class RemoveContactForm(RequestBody, frozen=True):
    """A contact to remove; with a channel, only that address."""

    name: Annotated[str, Meta(max_length=_NAME)]
    channel: Annotated[str, Meta(max_length=_NAME)] = ""


class TokenForm(RequestBody, frozen=True):
    """A token form."""

    name: Annotated[str, Meta(max_length=_NAME)] = ""
    scopes: Annotated[tuple[Scope, ...], Meta(max_length=10)] = ()
    agent: bool = False
    days: Annotated[int, Meta(ge=1, le=3660)] | None = None


def _shown_again(name: str) -> Refused:
    """Return what shows a section of the settings again, with what is wrong."""

    async def show(call: Call, sent: Struct, wrong: BadInput | Conflict) -> CallResult:
        typed = {"form": to_builtins(sent)} if isinstance(sent, TokenForm) else {}
        return await section(call, name, {"wrong": str(wrong), **typed}, 422)

    return show


@form("/settings/channels/{name}/test", upkeep.test_channel)
async def test(call: Call, wanted: ChannelTest) -> CallResult:
    """Send a marked message the way every message goes."""
    made = (await perform(call, wanted)).content
    return shell.redirect(f"/settings/channels?test={made['id']}#way-{call.path['name']}")


@form("/settings/contacts/drop", contacts.remove_contact)
async def remove_contact(call: Call, given: RemoveContactForm) -> CallResult:
    less = ChangedContact(contact=given.name, channels={given.channel: None})
    await perform(call, less if given.channel else RemoveContact(given.name))
    return shell.redirect("/settings/contacts")


@form("/settings/contacts/policy", contacts.permit_contact, refused=_shown_again("contacts"))
async def permit(call: Call, permission: NewPermission) -> CallResult:
    """Whether someone is written to on a channel without a question."""
    content = (await perform(call, permission)).content
    if content["holds"] != permission.policy:
        kept = f"{permission.policy} is kept, but {content['holds']} counts, for {FILE} says so."
        return await section(call, "contacts", {"said": f"{content['name']}: {kept}"})
    return shell.redirect("/settings/contacts")


@form("/settings/policies/forget", contacts.permit_contact, refused=_shown_again("policies"))
async def forget(call: Call, permission: NewPermission) -> CallResult:
    """Take a standing permission back: from now on it asks."""
    await perform(call, replace(permission, policy=Policy.ASK))
    return shell.redirect("/settings/policies")


@form("/settings/tokens", upkeep.make_token, refused=_shown_again("tokens"))
async def make_token(call: Call, given: TokenForm) -> CallResult:
    """Create a token; its secret is only on this page."""
    wanted = NewToken(given.name.strip(), list(given.scopes), given.agent, given.days)
    made = await perform(call, wanted)
    content = {"secret": made.content["secret"], "made": made.value}
    return await section(call, "tokens", content, 201)


@form("/settings/password", upkeep.set_password, refused=_shown_again("tokens"))
async def set_password(call: Call, wanted: SetPassword) -> CallResult:
    """Set or take back the password; the page says so."""
    is_set = (await perform(call, wanted)).content["set"]
    sentence = "The password is set. Other browsers must sign in again." if is_set else _GONE
    return await section(call, "tokens", {"said": sentence})


@form("/settings/notices/test", upkeep.test_notice, refused=_shown_again("notices"))
async def try_out(call: Call, way: TriedWay) -> CallResult:
    """Tell over one way that this is a test, and say how that went."""
    notice = cast("Notice", (await perform(call, way)).value)
    sentence = test_result_sentence(notice, notice_ways(call))
    return await section(call, "notices", {"said": sentence})


_ACCESS: Final = "/settings/tokens"
switch_on: Final = shell.form_of(
    "/settings/channels/{name}/on", upkeep.switch_channel_on, "/settings/channels"
)
revoke: Final = shell.form_of("/settings/tokens/{id}/revoke", upkeep.revoke_token, _ACCESS)
sign_out: Final = shell.form_of("/settings/sign-ins/{id}/end", upkeep.end_sign_in, _ACCESS)
