"""`remit channels`: list channels and what each lacks, and send a real test message."""

import json as notation
from typing import Annotated, Final, cast

from cyclopts import App
from msgspec import Struct

from remit import settings as house_settings
from remit.channels.health import ChannelState
from remit.cli import (
    clock,
    codes,
    connection,
    notice_state,
    out,
    remit_client,
    wait_for_task,
    words,
)
from remit.cli.codes import TimedOut
from remit.cli.out import AsJson, Piece, StyledText, flag
from remit.cli.remit_client import RemitClient
from remit.errors import BadInput, NotFound
from remit.model.codec import Json, JsonMap
from remit.model.delivery import Delivery, DeliveryStatus
from remit.model.ids import TaskId
from remit.model.review import ReviewAnswer
from remit.model.status import Reason
from remit.model.task import Task
from remit.operations.arguments import CancelTask, NewDecision
from remit.operations.settings_arguments import ChannelTest, SwitchChannelOn
from remit.settings import Settings
from remit.store import inbound, reviews, tasks
from remit.store.read_only import glance

LIMIT: Final = 60.0  # seconds for the send itself
_PAUSE: Final = 0.2
_STYLE: Final = {"ok": "green", "warn": "yellow", "fail": "red"}
_LAST_WORDS: Final = frozenset({"delivered", "read", "failed"})
_CODES: Final = {DeliveryStatus.SENT: codes.DONE, DeliveryStatus.PENDING: codes.WAITS}

app = App(name="channels")


@app.default
@app.command(name="list")
def names(*, json: AsJson = False) -> int:
    """The channels of this Remit, and whether each has what it needs."""
    found = notice_state.look(house_settings.load())
    if json:
        listed: list[Json] = [_told(each) for each in found]
        out.emit({"channels": listed})
        return codes.DONE
    out.table(
        [
            (each.name, each.kind, StyledText(each.verdict, _STYLE[each.verdict]), each.said)
            for each in found
        ]
    )
    for each in found:
        if each.todo:
            out.say(StyledText(f"{each.name}: {each.todo}", _STYLE[each.verdict]))
    return codes.DONE


@app.command(name="on")
def switch_on(
    name: Annotated[str, flag("The channel's name, or what you call it.")],
    /,
    *,
    json: AsJson = False,
) -> int:
    """Use a channel again that switched itself off; what waited for it goes on."""
    settings = house_settings.load()
    with remit_client.opened(settings) as way:
        told = way.ask(SwitchChannelOn(_named(settings, name)))
    if json:
        out.emit(told)
        return codes.DONE
    if not told["wasOff"]:
        out.say(f"{told['channel']} was on.")
        return codes.DONE
    waited = words.count(int(str(told["released"])), "task")
    out.say(f"{told['channel']} is on again; {waited} waited for it.")
    return codes.DONE


@app.command(name="test")
def try_out(
    name: Annotated[str, flag("The channel's name, or what you call it.")],
    /,
    *,
    to: Annotated[str | None, flag("A contact; without it, you.", "--to")] = None,
    wait: Annotated[float, flag("Seconds to wait for the provider's report.")] = 10.0,
    json: AsJson = False,
) -> int:
    """Send a marked test message the way every message goes, and show what came back."""
    settings = house_settings.load()
    trial = _Trial(settings, _named(settings, name), to)
    with remit_client.opened(settings, works=True) as way:
        sent = trial.send(way)
    report = trial.report(sent, wait)
    # A new connection: the server closes an idle one.
    with remit_client.opened(settings) as way:
        result = trial.settle(way, sent, report)
    if json:
        out.emit(result.told)
    else:
        result.show()
    return result.code


class _Result(Struct, frozen=True):
    """The result of a test."""

    channel: str
    task: Task
    delivery: Delivery
    report: str | None
    asked: str  # the question to the owner, if any
    heard: bool  # whether a running Remit can receive the provider's report
    released: int

    @property
    def code(self) -> int:
        if self.report == "failed":
            return codes.FAILED
        return _CODES.get(self.delivery.status, codes.FAILED)

    @property
    def told(self) -> JsonMap:
        return {
            "channel": self.channel,
            "taskId": self.task.id,
            "status": self.delivery.status.value,
            "receipt": self.delivery.receipt,
            "reason": self.delivery.reason,
            "asked": self.asked,
            "report": self.report,
            "released": self.released,
        }

    def show(self) -> None:
        """Print it."""
        out.line(*self._outcome())
        if self.report is not None:
            out.line(f"The provider reports: {self.report}")
        elif not self.heard:
            out.say(StyledText("No Remit runs here, so no report can come in.", "dim"))
        if self.released:
            out.say(
                f"{words.count(self.released, 'task')} that waited for this channel: on it goes."
            )

    def _outcome(self) -> tuple[Piece, ...]:
        delivery = self.delivery
        match delivery.status:
            case DeliveryStatus.SENT:
                return StyledText("sent", "green"), f", under the name {delivery.receipt}"
            case DeliveryStatus.REFUSED:
                return StyledText("refused", "red"), f": {delivery.reason}"
            case DeliveryStatus.PENDING:
                return StyledText(
                    "not sent", "yellow"
                ), f": {self.asked or delivery.reason or 'it waits'}"
            case DeliveryStatus.SENDING | DeliveryStatus.UNKNOWN:
                return StyledText(
                    "nobody knows", "yellow"
                ), f": {delivery.reason or 'no answer came'}"


class _Trial:
    """One test of one channel."""

    def __init__(self, settings: Settings, channel: str, to: str | None) -> None:
        self._settings = settings
        self._channel = channel
        self._to = to
        self._heard = False  # whether a running Remit can receive the provider's report

    def send(self, way: RemitClient) -> Task:
        """Send it, and return its task when nothing more happens by itself."""
        self._heard = way.serves
        test = ChannelTest(self._channel, self._to)
        task_id = TaskId(str(way.ask(test, connection.new_key())["id"]))
        out.say(StyledText(f"Task {task_id} sends a test message on {self._channel}.", "dim"))
        try:
            return wait_for_task.wait(self._settings, way, task_id, timeout=LIMIT, after=1)
        except TimedOut:  # an unknown send is waited for much longer than a person would
            with glance(self._settings.database) as tx:
                return tasks.get(tx, task_id)

    def report(self, task: Task, wait: float) -> str | None:
        """Return the latest provider report within some seconds."""
        delivery = task.delivery[0]
        if delivery.receipt is None or not self._heard:
            return None
        until = clock.seconds() + wait
        while True:
            with glance(self._settings.database) as tx:
                came = inbound.beginning(tx, f"{self._channel} report {delivery.receipt} ")
            told = {str(cast("JsonMap", notation.loads(body))["progress"]) for body in came}
            if told & _LAST_WORDS or clock.seconds() >= until:
                known = ("read", "delivered", "failed", "sent")
                return next((word for word in known if word in told), None)
            clock.pause(_PAUSE)

    def _asked(self, task: Task) -> str:
        with glance(self._settings.database) as tx:
            found = [each for each in reviews.of_task(tx, task.id) if each.decision is None]
        return found[-1].question if found else ""

    def settle(self, way: RemitClient, task: Task, report: str | None) -> _Result:
        """Release what waited for a working channel; end a test that cannot be sent."""
        delivery, asked = task.delivery[0], self._asked(task)
        released = self._release(way, task, delivery)
        return _Result(self._channel, task, delivery, report, asked, self._heard, released)

    def _release(self, way: RemitClient, task: Task, delivery: Delivery) -> int:
        about = f"channel:{self._channel}"
        with glance(self._settings.database) as tx:
            waiting = [each for each in reviews.waiting(tx, limit=10_000) if each.about == about]
        locked = [each for each in waiting if each.reason is Reason.AUTH]
        if any(each.task_id == task.id for each in locked):
            way.ask(CancelTask(task.id))
        if delivery.status is not DeliveryStatus.SENT:
            return 0
        for each in locked:
            assert each.id is not None  # noqa: S101 - what waits has been stored
            way.ask(NewDecision(each.id, ReviewAnswer.APPROVE))
        return len(locked)


def _named(settings: Settings, said: str) -> str:
    """Return the channel with this name."""
    word = said.strip().casefold()
    for name, chosen in settings.channels.items():
        if word in (name, *(alias.strip().casefold() for alias in chosen.aliases)):
            return name
    if word == "dashboard":
        raise BadInput("The dashboard is Remit's own; there is nothing to test.", field="name")
    known = ", ".join(settings.channels) or "none but the dashboard"
    raise NotFound("channel", f"{said!r:.60}; there are: {known}")


def _told(state: ChannelState) -> JsonMap:
    return {
        "name": state.name,
        "kind": state.kind,
        "aliases": list[Json](state.aliases),
        "verdict": state.verdict,
        "said": state.said,
        "todo": state.todo,
    }
