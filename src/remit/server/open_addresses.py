"""Addresses that need no token: hooks and WhatsApp's calls, by signature; the calendar feed."""

import hmac
from collections import deque
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from remit.calendar import ics
from remit.channels.registry import InboundHook
from remit.channels.whatsapp import callbacks
from remit.errors import NotFound, RemitError
from remit.model.task import SourceKind, Task
from remit.operations.upkeep import cue_to_json
from remit.server.call import Call, CallResult
from remit.server.problem import RequestRefused
from remit.server.routes import QueryParameter, RouteTerms, page, read
from remit.store import cues, series, series_orders, tasks
from remit.store.cues import CueFate
from remit.store.database import Tx
from remit.store.secrets import secrets_of
from remit.system.http_client import is_signed
from remit.wiring.calendar import FEED

# Calls of programs and providers ------------------------------------------------------------------

RETRY_AFTER: Final = 600  # seconds


@RouteTerms(method="POST", path="/hooks/in/{name}", gives="Cue", status=202, public=True, raw=True)
async def take_event(call: Call) -> CallResult:
    """An event from a program, by the secret of its hook."""
    from remit.channels.webhook import receiving  # noqa: PLC0415 - who has no hook need not wait for it
    from remit.wiring.inbound_registry import CallTooLarge, CallUnsigned  # noqa: PLC0415 - as above

    try:
        kept = await call.app.doors.called(
            call.path["name"], receiving.HookCall(call.headers, call.body)
        )
    except NotFound:
        raise RequestRefused("not-found", "There is no hook of this name.") from None
    except CallUnsigned as error:
        raise RequestRefused("unsigned", str(error)) from None
    except CallTooLarge as error:
        raise RequestRefused("too-large", str(error)) from None
    if kept.fate is CueFate.OVER:
        sentence = f"This hook has started enough for now: {kept.why}. Come again later."
        again = {"Retry-After": str(RETRY_AFTER)}
        raise RequestRefused("rate-limited", sentence, headers=again)
    return CallResult(cue_to_json(kept), 202)


_WHATSAPP_PATH: Final = "/hooks/whatsapp/{name}"
_CHALLENGE: Final = (
    QueryParameter("hub.mode", "What is asked: subscribe."),
    QueryParameter("hub.verify_token", "The word that you entered beside the address."),
    QueryParameter("hub.challenge", "What is said back."),
)


@read(_WHATSAPP_PATH, "Challenge", *_CHALLENGE, public=True)
async def challenge(call: Call) -> CallResult:
    """Asked by WhatsApp once, when its hook is entered."""
    parameters = {name: values[0] for name, values in call.query.items()}
    answer = callbacks.challenge(parameters, _inbound_hook(call).verify_token())
    if answer is None:
        sentence = "The verify token is not the one that the settings of this channel name."
        raise RequestRefused("unsigned", sentence)
    return CallResult(answer)


@RouteTerms(method="POST", path=_WHATSAPP_PATH, gives="Noted", public=True)
async def take_whatsapp_call(call: Call) -> CallResult:
    """Reports and messages from WhatsApp, by their signature."""
    hook = _inbound_hook(call)
    # While a secret is replaced, both are stored, separated by a space.
    if not is_signed(call.body, call.signature or "", hook.app_secret().split()):
        sentence = "The signature is missing or made with another secret; nothing was read."
        raise RequestRefused("unsigned", sentence)
    messages = callbacks.read_call(call.body, hook)
    if messages is None:
        raise RequestRefused("malformed", "This is not a call of WhatsApp's.")
    again = [await call.app.db.read(cues.is_known, each.ref) for each in messages]
    woken = await call.app.db.write(cues.take_inbound, messages, call.app.clock.now())
    if woken:
        call.app.engine.nudge()
    for each, known in zip(messages, again, strict=True):
        # A button, or the text for one, is the owner's decision; any other words of the owner are
        # a turn; others' messages may start work, by the owner's rules.
        if each.sender and await call.app.doors.owner_wrote(each, again=known):
            continue
        if await call.app.talk.receive(each) is None and each.sender:
            await call.app.doors.wrote(each)
    return CallResult({"noted": len(messages)})


def _inbound_hook(call: Call) -> InboundHook:
    hook = call.app.outfit.hooks.get(call.path["name"])
    if hook is None:
        sentence = "There is no channel of this name that takes calls."
        raise RequestRefused("not-found", sentence)
    return hook


# The calendar feed: what is planned for the next 60 days ------------------------------------------

FEED_PREFIX: Final = "/feed/"
FEED_AHEAD: Final = timedelta(days=60)
MAX_FEED_ENTRIES: Final = 1_000
_SHORTEST: Final = 32  # characters of the secret
_A_MINUTE: Final = 30  # answers per minute, to all callers together
_FEED_WAIT: Final = {"Retry-After": "60"}


class FeedRate:
    """Allows this many requests per minute."""

    def __init__(self, most: int = _A_MINUTE) -> None:
        self._most = most
        self._seen: deque[datetime] = deque()

    def allows(self, now: datetime) -> bool:
        while self._seen and not now - timedelta(minutes=1) < self._seen[0] <= now:
            self._seen.popleft()
        if len(self._seen) >= self._most:
            return False
        self._seen.append(now)
        return True


_FEED_PACE: Final = FeedRate()


# For phones, not for programs: so it counts as a page and is no part of the API.
@page(FEED_PREFIX + "{name}", public=True)
async def calendar_feed(call: Call) -> CallResult:
    """Return everything planned for the next 60 days, to callers with the secret."""
    now = call.app.clock.now()
    if not _has_feed_secret(call):  # first: callers without the secret must not use up the rate
        return CallResult("There is nothing here.", 404)
    if not _FEED_PACE.allows(now):
        return CallResult("Too many requests; ask again in a minute.", 429, headers=_FEED_WAIT)
    found = await call.app.db.read(feed_entries, now)
    name = f"{call.app.settings.agent}: planned"
    text = ics.calendar_text([ics.event(each, now) for each in found], name=name)
    return CallResult(text, media="text/calendar; charset=utf-8")


def feed_entries(tx: Tx, now: datetime) -> list[ics.Event]:
    """Return planned tasks, then future slots of series.

    What came from a calendar is left out, because it is in that calendar.
    """
    until = now + FEED_AHEAD
    planned = tasks.planned_between(tx, now, until, MAX_FEED_ENTRIES)
    wanted = [task for task in planned if _is_wanted(task, now)]
    known: set[object] = {(task.series_id, task.slot) for task in wanted}
    listed = [*map(_task_entry, wanted), *_series_entries(tx, now, until, known)]
    return sorted(listed, key=lambda each: each[1])[:MAX_FEED_ENTRIES]


def _is_wanted(task: Task, now: datetime) -> bool:
    at = task.scheduled_for
    return (
        not task.ended
        and at is not None
        and at >= now
        and (task.source.kind is not SourceKind.CALDAV)
    )


def _task_entry(task: Task) -> ics.Event:
    assert task.scheduled_for is not None  # noqa: S101 - only such were chosen
    return f"{task.id}@remit", task.scheduled_for, task.title, task.instructions[:500]


def _series_entries(
    tx: Tx, now: datetime, until: datetime, known: set[object]
) -> Iterator[ics.Event]:
    for each in series.list_series(tx, limit=MAX_FEED_ENTRIES):
        if each.paused_at is not None:
            continue
        for slot in series_orders.coming(tx, each, now, int(FEED_AHEAD.days * 24)):
            if slot.at >= until:
                break
            if slot.fate is None and slot.at >= now and (each.id, slot.at) not in known:
                at = slot.planned or slot.at
                yield f"{each.id}-{slot.at:%Y%m%dT%H%M%SZ}@remit", at, each.title, ""


def _has_feed_secret(call: Call) -> bool:
    """Whether the address ends in the secret; an empty one is never valid."""
    name = call.path["name"].removesuffix(".ics")
    try:
        secret = secrets_of(call.app.settings.home).find(FEED)
    except RemitError:
        secret = ""
    same = hmac.compare_digest(name.encode("utf-8", "replace"), secret.encode())
    return same and len(secret) >= _SHORTEST
