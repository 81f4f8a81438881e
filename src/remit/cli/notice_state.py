"""The state of channels, notices and calendars, as far as it can be known without sending."""

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Final

from remit.channels.push import NEEDS, is_installed
from remit.channels.registry import ChannelSecrets, ChannelState, channel_states
from remit.cli import words
from remit.cli.calendar import accounts
from remit.cli.out import DoctorFinding, ok, warn
from remit.cli.remit_client import RemitClient
from remit.errors import RemitError
from remit.model.conversation import CONVERSATION, DIGEST, KINDS, PUSH
from remit.model.review import Review, ReviewAnswer
from remit.model.status import Reason
from remit.operations.arguments import NewDecision
from remit.settings import Settings
from remit.store import calendars, callers, permissions, reviews
from remit.store.calendars import StoredCalendar
from remit.store.read_only import open_read_only
from remit.store.secrets import secrets_of

_DASHBOARD: Final = "what is for you is shown there; it is always ready"


def all_channels(settings: Settings) -> list[ChannelState]:
    """Return every channel, the dashboard first."""
    return [
        ChannelState("dashboard", "dashboard", "ok", _DASHBOARD),
        *configured_channels(settings),
    ]


def configured_channels(settings: Settings) -> list[ChannelState]:
    """Return the configured channels."""
    if not settings.channels:
        return []
    from remit.wiring import WallClock  # noqa: PLC0415 - the whole app

    keys = ChannelSecrets(secrets_of(settings.home), os.environ, settings.channels)
    with open_read_only(settings.database) as tx:
        off = permissions.channels_off(tx)
        return [*channel_states(keys, WallClock(), off, settings.home).values()]


def notice_findings(settings: Settings, now: datetime) -> Iterator[DoctorFinding]:
    """Yield every way that is used for notices, and whether it works."""
    wishes = settings.notices
    used = {way: [n.value for n in KINDS if way in wishes.ways(n)] for way in _used_ways(settings)}
    channels = {each.name: each for each in configured_channels(settings)}
    for way, kinds in used.items():
        text = ", ".join(kinds) or "the digest"
        if way == CONVERSATION:
            yield ok("notices", f"{way} ({text}): it always works")
        elif way == PUSH:
            yield _push(settings, text, now)
        elif way == DIGEST:
            over = ", ".join(wishes.digest_over)
            yield ok("notices", f"{way} ({text}): at {wishes.digest_at}, over {over}")
        else:
            found = channels[way]
            yield DoctorFinding(
                "notices", found.verdict, f"{way} ({text}): {found.said}", found.todo
            )
    if silent := [news.value for news in KINDS if not wishes.ways(news)]:
        yield ok("notices", f"none ({', '.join(silent)}): you are not told; the dashboard has it")


def calendar_findings(settings: Settings, now: datetime) -> Iterator[DoctorFinding]:
    """Yield each account: which calendars start work, and when it was last read."""
    known: list[StoredCalendar] = []
    # A damaged or older file is reported elsewhere.
    with suppress(RemitError), open_read_only(settings.database) as tx:
        known = calendars.list_calendars(tx)
    for account in accounts(settings):
        yield _account(account, [each for each in known if each.account == account], now)


def _used_ways(settings: Settings) -> list[str]:
    every = [way for news in KINDS for way in settings.notices.ways(news)]
    return list(dict.fromkeys([*every, *settings.notices.channels]))


def _push(settings: Settings, text: str, now: datetime) -> DoctorFinding:
    if not is_installed():
        return ok("notices", f"{PUSH} ({text}): no browser is told. {NEEDS}")
    listening = 0
    with suppress(RemitError), open_read_only(settings.database) as tx:
        listening = len(callers.pushes(tx, now))
    if not listening:
        return ok("notices", f"{PUSH} ({text}): no browser listens; Settings, Notices lets one")
    return ok("notices", f"{PUSH} ({text}): {words.count(listening, 'browser')} listening")


def _account(name: str, found: list[StoredCalendar], now: datetime) -> DoctorFinding:
    marked = [each for each in found if each.marked]
    if not found:
        return ok("calendar", f"{name}: not read yet; `remit up` does, and `remit calendar sync`")
    if wrong := next((each.why for each in marked if each.why), None):
        todo = "Look at its address and password; what is known of it still starts."
        return warn("calendar", f"{name}: {wrong}", todo)
    if not marked:
        return ok("calendar", f"{name}: none starts work; `remit calendar mark NAME` lets one")
    text = f"{name}: {words.count(len(marked), 'calendar')}, {_last_read(marked, now)}"
    if refused := sum(each.refused for each in marked):
        todo = "`remit calendar` says which, and why."
        return warn("calendar", f"{text}; {words.count(refused, 'event')} starting nothing", todo)
    return ok("calendar", text)


def _last_read(marked: list[StoredCalendar], now: datetime) -> str:
    last = min((each.looked for each in marked if each.looked), default=None)
    if last is None:
        return "not read yet"
    return f"read {words.relative(last, now)}"


def release(settings: Settings, way: RemitClient, channel: str) -> int:
    """Let what waited for a channel's account go on; return how many tasks."""
    locked = waiting_for(settings, channel)
    for each in locked:
        assert each.id is not None  # noqa: S101 - what waits has been stored
        way.ask(NewDecision(each.id, ReviewAnswer.APPROVE))
    return len(locked)


def waiting_for(settings: Settings, channel: str) -> list[Review]:
    with open_read_only(settings.database) as tx:
        return reviews.waiting_for(tx, Reason.AUTH, f"channel:{channel}")
