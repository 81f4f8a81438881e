"""The forms of the schedule, and what they ask for."""

from datetime import UTC, datetime, tzinfo
from typing import Annotated, Final

from msgspec import Meta

from remit.errors import BadInput
from remit.model import codec
from remit.operations.settings_arguments import RefusalForm
from remit.operations.table import perform
from remit.operations.upkeep import see_calendar_refusal
from remit.server.bodies import RequestBody
from remit.server.call import Call, CallResult, form
from remit.server.page_language import say
from remit.server.problem import Problem, RequestRefused
from remit.server.web import shell
from remit.server.web.words import dated


class SeriesForm(RequestBody, frozen=True):
    """An action on a series, and where to go then."""

    back: Annotated[str, Meta(max_length=200)] = "/schedule"


class RepeatForm(SeriesForm, frozen=True):
    every: Annotated[str, Meta(max_length=500)] = ""


class SlotForm(SeriesForm, frozen=True, kw_only=True):
    at: Annotated[str, Meta(max_length=40)]


class MoveSlotForm(SlotForm, frozen=True, kw_only=True):
    to: Annotated[str, Meta(max_length=40)]


def arguments(call: Call, series: str, body: SeriesForm) -> dict[str, str]:
    given: dict[str, str] = {"id": series}
    if isinstance(body, SlotForm):
        given["slot"] = body.at
    if isinstance(body, RepeatForm):
        given["every"] = body.every
    if isinstance(body, MoveSlotForm):
        to = wall(body.to, call.house.zone)
        check_to_come(call, to, "to")
        given["to"] = codec.stamp(to)
    return given


def check_to_come(call: Call, at: datetime, field: str) -> None:
    """Refuse a time that is over on the owner's clock."""
    if at <= shell.local(call):
        when = dated(at, f"{at.day} %B %Y %H:%M")
        sentence = say("{0} is over in {1}; choose a later time.", when, call.house.zone.key)
        raise BadInput(sentence, field=field)


def wall(text: str, zone: tzinfo, field: str = "to") -> datetime:
    """Parse a wall time of the owner; one that does not exist is refused."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        sentence = f"{text!r:.40} is no time; one looks like 2026-03-02T08:30."
        raise BadInput(sentence, field=field) from None
    if moment.tzinfo is not None:
        return moment
    there = moment.replace(tzinfo=zone)
    if there.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != moment:
        sentence = f"{moment:%H:%M} is left out on {moment:%d %B %Y}: the clocks go forward then."
        raise BadInput(sentence, field=field)
    return there


REFUSED_HREF: Final = "/schedule#refused"


async def see_refusal(call: Call) -> CallResult:
    """The owner knows of it; if the event changes, it is told anew."""
    if not (await perform(call, call.arguments(RefusalForm))).content["seen"]:
        sentence = "That event is not refused any more; look again."
        raise RequestRefused(Problem("not-found", sentence))
    return shell.elsewhere(REFUSED_HREF)


ROUTES: Final = (form("/schedule/refused", see_refusal, RefusalForm, see_calendar_refusal),)
