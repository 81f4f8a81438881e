"""The state of channels, notices and calendars, as far as it can be known without sending."""

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Final

from msgspec import Struct

from remit.channels.health import ChannelState, channel_states
from remit.channels.push.sending import NEEDS, is_there
from remit.channels.registry import ChannelSecrets
from remit.cli import words
from remit.errors import RemitError
from remit.model.notice import CONVERSATION, DIGEST, KINDS, PUSH
from remit.settings import Settings
from remit.settings.doors import OWN
from remit.store import calendars, permissions, push
from remit.store.calendars import StoredCalendar
from remit.store.read_only import glance
from remit.store.secrets import Secrets, machine_ring

_DASHBOARD: Final = "what is for you is shown there; it is always ready"


def look(settings: Settings) -> list[ChannelState]:
    """Return every channel, the dashboard first."""
    return [ChannelState("dashboard", "dashboard", "ok", _DASHBOARD), *chosen(settings)]


def chosen(settings: Settings) -> list[ChannelState]:
    """Return the configured channels."""
    if not settings.channels:
        return []
    from remit.wiring import WallClock  # noqa: PLC0415 - the whole house

    keys = ChannelSecrets(Secrets(settings.home, machine_ring()), os.environ, settings.channels)
    return [*channel_states(keys, WallClock(), _off(settings)).values()]


def _off(settings: Settings) -> dict[str, str]:
    if not settings.database.exists():
        return {}
    with glance(settings.database) as tx:
        return permissions.channels_off(tx)


class NoticeHealth(Struct, frozen=True):
    """`verdict` is ok, warn or fail, as in the doctor."""

    verdict: str
    said: str
    todo: str = ""


def ways(settings: Settings, now: datetime) -> Iterator[NoticeHealth]:
    """Yield every way that is used for notices, and whether it works."""
    wishes = settings.notices
    used = {way: [n.value for n in KINDS if way in wishes.ways(n)] for way in _named(settings)}
    channels = {each.name: each for each in chosen(settings)}
    for way, kinds in used.items():
        told = ", ".join(kinds) or "the digest"
        if way == CONVERSATION:
            yield NoticeHealth("ok", f"{way} ({told}): it always works")
        elif way == PUSH:
            yield _push(settings, told, now)
        elif way == DIGEST:
            over = ", ".join(wishes.digest_over)
            yield NoticeHealth("ok", f"{way} ({told}): at {wishes.digest_at}, over {over}")
        else:
            found = channels[way]
            yield NoticeHealth(found.verdict, f"{way} ({told}): {found.said}", found.todo)
    if silent := [news.value for news in KINDS if not wishes.ways(news)]:
        yield NoticeHealth(
            "ok", f"none ({', '.join(silent)}): you are not told; the dashboard has it"
        )


def every_calendar(settings: Settings, now: datetime) -> Iterator[NoticeHealth]:
    """Yield each account: which calendars start work, and when it was last read."""
    accounts = [*([OWN] if settings.calendar.own else []), *settings.calendars]
    known: list[StoredCalendar] = []
    # A damaged or older file is reported elsewhere.
    with suppress(RemitError), glance(settings.database) as tx:
        known = calendars.list_calendars(tx)
    for account in accounts:
        yield _account(account, [each for each in known if each.account == account], now)


def _named(settings: Settings) -> list[str]:
    every = [way for news in KINDS for way in settings.notices.ways(news)]
    return list(dict.fromkeys([*every, *settings.notices.channels]))


def _push(settings: Settings, told: str, now: datetime) -> NoticeHealth:
    if not is_there():
        return NoticeHealth("ok", f"{PUSH} ({told}): no browser is told. {NEEDS}")
    listening = 0
    with suppress(RemitError), glance(settings.database) as tx:
        listening = len(push.list_subscriptions(tx, now))
    if not listening:
        return NoticeHealth(
            "ok", f"{PUSH} ({told}): no browser listens; Settings, Notices lets one"
        )
    return NoticeHealth("ok", f"{PUSH} ({told}): {words.count(listening, 'browser')} listening")


def _account(name: str, found: list[StoredCalendar], now: datetime) -> NoticeHealth:
    marked = [each for each in found if each.marked]
    if not found:
        return NoticeHealth(
            "ok", f"{name}: not read yet; `remit up` does, and `remit calendar sync`"
        )
    if wrong := next((each.why for each in marked if each.why), None):
        todo = "Look at its address and password; what is known of it still starts."
        return NoticeHealth("warn", f"{name}: {wrong}", todo)
    if not marked:
        return NoticeHealth("ok", f"{name}: none starts work; `remit calendar mark NAME` lets one")
    said = f"{name}: {words.count(len(marked), 'calendar')}, {_read(marked, now)}"
    if refused := sum(each.refused for each in marked):
        todo = "`remit calendar` says which, and why."
        return NoticeHealth(
            "warn", f"{said}; {words.count(refused, 'event')} starting nothing", todo
        )
    return NoticeHealth("ok", said)


def _read(marked: list[StoredCalendar], now: datetime) -> str:
    last = min((each.looked for each in marked if each.looked), default=None)
    if last is None:
        return "not read yet"
    return f"read {words.relative(last, now)}"
