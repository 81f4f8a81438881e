"""`remit channels`: list channels and what each lacks, and send a real test message."""

import json as notation
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Annotated, Final, TypeAlias, cast

from remit import settings as app_settings
from remit.cli import clock, codes, notice_state, out, remit_client, section_questions, words
from remit.cli.codes import ServerRefusal, TimedOut
from remit.cli.commands import CommandGroup
from remit.cli.lookup import EventWatch
from remit.cli.out import VERDICT_STYLES, AsJson, StyledText, flag, number_flag
from remit.cli.remit_client import RemitClient
from remit.cli.request_key import new_key
from remit.cli.task import wait_for_rest
from remit.cli.tokens import value_of
from remit.errors import BadInput, NotFound
from remit.model.codec import JsonMap, pick_fields
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.ids import TaskId
from remit.model.task import Task
from remit.operations.arguments import CancelTask
from remit.operations.settings_arguments import (
    ChangeSection,
    ChannelTest,
    PairChannel,
    SwitchChannelOn,
)
from remit.settings import Settings
from remit.settings.channels import ChannelSettings, kinds
from remit.settings.forms import form_for
from remit.store import cues, reviews, tasks
from remit.store.read_only import open_read_only

LIMIT: Final = 60.0  # seconds for the send itself
_START: Final = "If Remit does not run, start it with `remit up`: it listens for the code."
_SHOWN: Final = "name kind aliases verdict said todo"
_PAUSE: Final = 0.2
_WAIT: Final = number_flag("Seconds to wait for the provider's report.", least=0)
_Name: TypeAlias = Annotated[str, flag("The channel's name or alias.")]
_To: TypeAlias = Annotated[str | None, flag("A contact; default: you.", "--to")]
_LAST_WORDS: Final = frozenset({"delivered", "read", "failed"})
_CODES: Final = {DeliveryStatus.SENT: codes.DONE, DeliveryStatus.PENDING: codes.WAITS}

_OUTCOMES: Final = {
    DeliveryStatus.SENT: ("sent", "green"),
    DeliveryStatus.REFUSED: ("refused", "red"),
    DeliveryStatus.PENDING: ("not sent", "yellow"),
    DeliveryStatus.SENDING: ("nobody knows", "yellow"),
    DeliveryStatus.UNKNOWN: ("nobody knows", "yellow"),
}

BY_SIGN_IN: Final = ("gmail", "outlook")

app = CommandGroup("channels")
app.commands |= {name: f"sign_in:{name}" for name in ("connect", "disconnect")}


@app.default
@app.command("list")
def names(*, json: AsJson = False) -> int:
    """List the channels and whether each is set up."""
    found = notice_state.all_channels(app_settings.load())
    rows = [
        (each.name, each.kind, StyledText(each.verdict, VERDICT_STYLES[each.verdict]), each.said)
        for each in found
    ]
    out.listing(json, {"channels": [pick_fields(each, _SHOWN) for each in found]}, rows)
    for each in () if json else found:
        if each.todo:
            out.hint(f"{each.name}: {each.todo}", VERDICT_STYLES[each.verdict])
    return codes.DONE


@app.command()
def add(  # noqa: PLR0913 - each is a flag
    kind: Annotated[str, flag("What to connect: telegram, gmail, outlook, email, whatsapp, …")],
    /,
    *,
    name: Annotated[str, flag("A name for it; default: the kind.")] = "",
    url: Annotated[str, flag("Another address of the provider.")] = "",
    client_id: Annotated[
        str, flag("The client id of your app: gmail, outlook.", "--client-id")
    ] = "",
    address: Annotated[str, flag("Your mail address: gmail, outlook.", "--address")] = "",
    browser: Annotated[
        bool, flag("Sign in with a browser on this machine, not with a code.", "--browser")
    ] = False,
    json: AsJson = False,
) -> int:
    """Connect a channel: check its secret or sign in, then write the settings."""
    settings, name = app_settings.load(), name or kind
    if name in settings.channels:
        chat = settings.channels[name].sign_in is None
        again = f"`remit channels {'pair' if chat else 'connect'} {name}` connects it."
        raise BadInput(f"There is a channel {name}; {again}", field="name")
    if kind in BY_SIGN_IN:
        from remit.cli import sign_in  # noqa: PLC0415 - loads a web client

        sign_in.add_mail(kind, name, client_id, address, url=url, browser=browser)
        connected = f"{name} is connected; try it: `remit channels test {name}`."
        return out.print_result(json, {"channel": name}, connected)
    found = kinds().get(kind)
    if found is None:
        known = ", ".join((*kinds(), *BY_SIGN_IN))
        raise BadInput(f"kind is {kind!r:.60}; it may be {known}.", field="kind")
    if not getattr(found, "added_by", ""):
        return _ask_and_test(kind, name)
    values: dict[str, object] = {"kind": kind, found.secret_fields[0]: _ask_secret(found)}
    with remit_client.open_client(settings) as way:
        way.ask(ChangeSection(f"channels.{name}", values | ({"url": url} if url else {})))
    if not json:
        made = app_settings.load().channels[name]
        out.say(f"{name} is set up: {getattr(made, 'bot', kind)}.")
    return _once_known(partial(_pair, name, json=json))


def _ask_secret(kind: type[ChannelSettings]) -> str:
    """Ask for the secret of a channel, and say where it comes from."""
    label, hint = kind.asks[kind.secret_fields[0]]
    if sys.stdin.isatty():
        out.hint(hint)
    return value_of(label)


def _ask_and_test(kind: str, name: str) -> int:
    """Ask for a channel of a kind, write it down, and send a test message on it."""
    if not sys.stdin.isatty():
        sentence = f"{kind} is asked for at a terminal; or add it under Settings, or in the file."
        raise BadInput(sentence, field="kind")
    form = form_for(f"channels.{name}", app_settings.load(), kind)
    section_questions.save(form, {"kind": kind, **section_questions.answers(form)})
    if not section_questions.agrees("Send a test message to you now?"):
        return codes.DONE
    return _once_known(partial(try_out, name))


def _once_known(use: Callable[[], int]) -> int:
    """Use a new channel; a running Remit takes it up in a moment."""
    until = clock.seconds() + LIMIT
    while True:
        try:
            return use()
        except (NotFound, ServerRefusal) as error:
            if codes.of_error(error) != codes.NOT_FOUND or clock.seconds() >= until:
                raise
        clock.pause(_PAUSE)


@app.command()
def pair(name: _Name, /, *, to: _To = None, json: AsJson = False) -> int:
    """Make a code that connects a chat with you, or with a contact, once."""
    return _pair(_find_channel(app_settings.load(), name), to, json=json)


def _pair(name: str, to: str | None = None, *, json: bool) -> int:
    with remit_client.open_client(app_settings.load()) as way:
        content, serves = way.ask(PairChannel(name, to)), way.serves
    who = f"{content['contact']} must open" if content["contact"] else "open"
    opens = f"Within 15 minutes {who} {content['link']} and press Start,"
    code = "or send the bot this code, which works once:"
    out.print_result(json, content, opens, code, data=str(content["code"]))
    if not serves and not json:
        out.say(_START)
    return codes.DONE


@app.command("on")
def switch_on(name: _Name, /, *, json: AsJson = False) -> int:
    """Use a channel again that switched itself off; what waited for it goes on."""
    answer = remit_client.ask(SwitchChannelOn(_find_channel(app_settings.load(), name)))
    waited = words.count(int(str(answer["released"])), "task")
    now = f"is on again; {waited} waited for it." if answer["wasOff"] else "was on."
    return out.print_result(json, answer, f"{answer['channel']} {now}")


@app.command("test")
def try_out(
    name: _Name,
    /,
    *,
    to: _To = None,
    wait: Annotated[float, _WAIT] = 10.0,
    json: AsJson = False,
) -> int:
    """Send a test message as every message is sent, and show the answer."""
    settings = app_settings.load()
    channel = _find_channel(settings, name)
    with remit_client.open_client(settings, works=True) as way:
        task, is_running = _send(settings, way, ChannelTest(channel, to)), way.serves
    delivery = task.delivery[0]
    report = _report(settings, channel, delivery, wait) if is_running else None
    # A new connection: the server closes an idle one.
    with remit_client.open_client(settings, works=True) as way:
        asked, released = _settle(settings, way, channel, task)
    if json:
        content: JsonMap = {"channel": channel, "taskId": task.id, "status": delivery.status.value}
        content |= {"receipt": delivery.receipt, "reason": delivery.reason, "asked": asked}
        out.emit(content | {"report": report, "released": released})
    else:
        word, style = _OUTCOMES[delivery.status]
        why = {
            DeliveryStatus.SENT: f", under the name {delivery.receipt}",
            DeliveryStatus.REFUSED: f": {delivery.reason}",
            DeliveryStatus.PENDING: f": {asked or delivery.reason or 'it waits'}",
        }
        unknown = f": {delivery.reason or 'no answer came'}"
        out.line(StyledText(word, style), why.get(delivery.status, unknown))
        if report is not None:
            out.line(f"The provider reports: {report}")
        elif not is_running:
            out.hint("No Remit runs here, so no report can come in.")
        if released:
            out.say(f"{words.count(released, 'task')} that waited for this channel: on it goes.")
    return codes.FAILED if report == "failed" else _CODES.get(delivery.status, codes.FAILED)


def _send(settings: Settings, way: RemitClient, test: ChannelTest) -> Task:
    """Send a test message, and return its task when it rests or failed twice."""
    task_id = TaskId(str(way.ask(test, new_key())["id"]))
    out.hint(f"Task {task_id} sends a test message on {test.name}.")
    try:
        return wait_for_rest(settings, way, task_id, timeout=LIMIT, after=1, until_tried=True)
    except TimedOut:  # an unknown send is waited for much longer than a person would
        with open_read_only(settings.database) as tx:
            return tasks.get(tx, task_id)


def _report(settings: Settings, channel: str, delivery: Delivery, wait: float) -> str | None:
    """Return the latest provider report within some seconds."""
    if delivery.receipt is None:
        return None
    until = clock.seconds() + wait
    while True:
        with open_read_only(settings.database) as tx:
            reports = cues.beginning(tx, f"{channel} report {delivery.receipt} ")
        states = {str(cast("JsonMap", notation.loads(body))["progress"]) for body in reports}
        if states & _LAST_WORDS or clock.seconds() >= until:
            known = ("read", "delivered", "failed", "sent")
            return next((word for word in known if word in states), None)
        clock.pause(_PAUSE)


def _settle(settings: Settings, way: RemitClient, channel: str, task: Task) -> tuple[str, int]:
    """Return the question of a test, if any, and how many tasks go on.

    What waited for a working channel is released; a test that cannot be sent ends.
    """
    with open_read_only(settings.database) as tx:
        asked = [each.question for each in reviews.of_task(tx, task.id) if each.decision is None]
    waiting = notice_state.waiting_for(settings, channel)
    retried = task.delivery[0].status is DeliveryStatus.PENDING and not asked and not task.ended
    if retried or any(each.task_id == task.id for each in waiting):
        _cancel(settings, way, task.id)
    sent = task.delivery[0].status is DeliveryStatus.SENT
    released = notice_state.release(settings, way, channel) if sent else 0
    return asked[-1] if asked else "", released


def _cancel(settings: Settings, way: RemitClient, task_id: TaskId) -> None:
    """Cancel a test and wait for its end: without a running Remit, this process ends it."""
    way.ask(CancelTask(task_id))
    with open_read_only(settings.database) as tx, suppress(TimedOut):
        way.rest(EventWatch(tx, task_id, lambda _: None), LIMIT)


def _find_channel(settings: Settings, text: str) -> str:
    """Return the channel with this name."""
    word = text.strip().casefold()
    for name, chosen in settings.channels.items():
        if word in (name, *(alias.strip().casefold() for alias in chosen.aliases)):
            return name
    if word == "dashboard":
        raise BadInput("The dashboard is Remit's own; there is nothing to test.", field="name")
    known = ", ".join(settings.channels) or "none but the dashboard"
    raise NotFound("channel", f"{text!r:.60}; there are: {known}")
