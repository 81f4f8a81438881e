"""Inbound settings: hooks that programs call, channels that people write to, folders, calendars.

    [hooks.shop]                      # POST /hooks/in/shop, signed with the secret of that name
    secret = "hook_shop"
    text = "Say in one line what was ordered."

    [doors.post]                      # what comes in by the channel `post`
    authserv_id = "mx.example.org"    # the mail server that authenticates senders: your own
    contacts = "start"                # your contacts may start work; strangers never do

    [folders.scans]
    path = "/data/scans"

The owner's text here says what to do with what comes in; the incoming text decides nothing.

Remit's own calendar is `[calendar]`; an account on another server is `[calendars.NAME]`, with the
calendars that start work and the name of the secret that is its password.
"""

import re
from collections.abc import Mapping
from datetime import time
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct

from remit.errors import BadInput
from remit.settings.channels import (
    KEY_NAME_PATTERN,
    NAME_PATTERN,
    NO_DOOR,
    ChannelSettings,
    OAuthSettings,
)
from remit.settings.parts import SettingsTable

START: Final = "start"
KEEP: Final = "keep"
DROP: Final = "drop"
ANY: Final = "any"
SCHEMES: Final = (ANY, "standard", "github", "bearer")
_POINTER: Final = r"(/[^/]{1,100}){1,10}"
_MAX_BODY_BYTES: Final = 1_048_576
_MAX_TEXT_CHARACTERS: Final = 20_000
_MIN_POLL_SECONDS: Final = 5  # seconds between two looks


class HookSettings(Struct, frozen=True, kw_only=True):
    """What a program's call may start, and its authentication. `secret` is a secret's name."""

    secret: str
    text: str = "See to this for me: say in a few lines what happened and what I should do."
    title: str = ""  # where the title is in the JSON, such as /issue/title
    channel: str = "dashboard"
    recipient: str = ""  # you
    scheme: str = ANY
    largest: int = 262_144  # bytes
    hourly: int = 60  # tasks; 0: no limit, here and below
    daily_tokens: int = 500_000
    daily_cents: int = 0


class InboundRule(Struct, frozen=True, kw_only=True):
    """Who besides you may start work on a channel, and how mail is read."""

    contacts: str = KEEP
    strangers: str = KEEP  # they start nothing; `drop` stores nothing of them either
    text: str = "See to this for me: say what it asks for, and what I should answer or do."
    authserv_id: str = ""  # your mail server, or its domain; without it no sender is authenticated
    folder: str = "INBOX"
    poll: int = 60  # seconds after which the mailbox is polled in any case
    hourly: int = 20  # tasks that one person starts
    daily_tokens: int = 500_000  # of everything this channel starts
    daily_cents: int = 0


class FolderSettings(Struct, frozen=True, kw_only=True):
    """A folder whose new files are work. `trusted`: only you write there."""

    path: str
    text: str = "See to this file for me: say in a few lines what it says and what I should do."
    trusted: bool = False
    poll: int = 10
    largest: int = 1_048_576
    hourly: int = 60
    daily_tokens: int = 500_000
    daily_cents: int = 0


Way: TypeAlias = HookSettings | InboundRule | FolderSettings
_Wrong: TypeAlias = tuple[tuple[bool, str], ...]


def check(found: Mapping[str, InboundRule], channels: "Mapping[str, ChannelSettings]") -> None:
    """Refuse a door to a channel that nothing comes in by."""
    for name, door in found.items():
        channel = channels.get(name)
        problem = channel.door_problem(name, door.authserv_id) if channel else NO_DOOR
        if problem:
            raise BadInput(f"[doors.{name}]: {problem}.", field=name)


def _wrong_hook(hook: HookSettings) -> _Wrong:
    # A secret is not shown: somebody may have written the value itself.
    return (
        *_wrong_caps(hook),
        (
            not re.fullmatch(KEY_NAME_PATTERN, hook.secret),
            "secret is the name of one, such as hook_shop; if it was the value, renew it",
        ),
        (
            bool(hook.title) and not re.fullmatch(_POINTER, hook.title),
            "title says where in the JSON it stands, such as /issue/title",
        ),
        (hook.scheme not in SCHEMES, f"scheme may be {', '.join(SCHEMES)}"),
        (not hook.channel, "channel is empty; leave it out for the dashboard"),
        (
            not 1 <= hook.largest <= _MAX_BODY_BYTES,
            f"largest must be from 1 to {_MAX_BODY_BYTES} bytes",
        ),
    )


def _wrong_door(door: InboundRule) -> _Wrong:
    return (
        *_wrong_caps(door),
        (door.contacts not in (START, KEEP), f"contacts may be {START} or {KEEP}"),
        (door.strangers not in (KEEP, DROP), f"strangers may be {KEEP} or {DROP}; they start none"),
        (not door.folder.strip(), "folder is empty; leave it out for INBOX"),
        (door.poll < _MIN_POLL_SECONDS, f"poll must be at least {_MIN_POLL_SECONDS} seconds"),
    )


def _wrong_folder(folder: FolderSettings) -> _Wrong:
    return (
        *_wrong_caps(folder),
        (not Path(folder.path).is_absolute(), "path must be a full path, such as /data/scans"),
        (folder.poll < _MIN_POLL_SECONDS, f"poll must be at least {_MIN_POLL_SECONDS} seconds"),
        (
            not 1 <= folder.largest <= 10 * _MAX_BODY_BYTES,
            f"largest must be 1 to {10 * _MAX_BODY_BYTES} bytes",
        ),
    )


def _wrong_caps(way: Way) -> _Wrong:
    caps = (way.hourly, way.daily_tokens, way.daily_cents)
    return (
        (min(caps) < 0, "hourly, daily_tokens and daily_cents are whole numbers, or 0"),
        (not way.text.strip(), "text is empty; say what is to be done with what comes in"),
        (len(way.text) > _MAX_TEXT_CHARACTERS, f"text may have {_MAX_TEXT_CHARACTERS} characters"),
    )


def _is_name(name: str) -> bool:
    return re.fullmatch(NAME_PATTERN, name) is not None


_NAMING: Final = "a name is of small letters, digits and _"
hooks = SettingsTable(
    HookSettings, "hooks", "hooks", "a secret", _wrong_hook, _is_name, _NAMING
).read
doors = SettingsTable(
    InboundRule, "doors", "channels", "what it lets in", _wrong_door, _is_name, _NAMING
).read
folders = SettingsTable(
    FolderSettings, "folders", "folders", "a path", _wrong_folder, _is_name, _NAMING
).read


OWN: Final = "own"
_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class CalendarSettings(Struct, frozen=True):
    """Remit's own calendar, and how all calendars are read."""

    own: bool = True  # a small CalDAV server on loopback, for as long as `remit up` runs
    port: int = 7317
    all_day_at: str = "09:00"  # when a whole day starts, on the owner's clock
    me: str = ""  # your addresses, separated by commas: what you organise is yours

    @property
    def morning(self) -> time:
        return time.fromisoformat(self.all_day_at)

    @property
    def mine(self) -> frozenset[str]:
        return frozenset(filter(None, (each.strip().lower() for each in self.me.split(","))))


class CalendarServer(Struct, frozen=True, kw_only=True):
    """An account on a CalDAV server. `password` is the name of a secret."""

    url: str
    user: str = ""
    password: str = ""
    oauth: OAuthSettings | None = None  # instead of a password
    calendars: tuple[str, ...] = ()
    trusted: bool = False
    poll: int = 60  # seconds between two polls
    plain: bool = False  # allows a connection without TLS, in your own network


def _wrong(found: CalendarServer) -> tuple[tuple[bool, str], ...]:
    try:
        parts = urlsplit(found.url)
        host, scheme, inside = parts.hostname or "", parts.scheme, parts.username
    except ValueError:
        host, scheme, inside = "", "", None
    safe = scheme == "https" or (scheme == "http" and (found.plain or host in _HERE))
    # A password is not shown: somebody may have written the value itself.
    return (
        (not host, "url must be an address such as https://dav.example.org/"),
        (inside is not None, "user and password are settings of their own, no part of the url"),
        (not safe, "url must begin with https://, or plain = true must say that http is meant"),
        (
            bool(found.password) and not re.fullmatch(KEY_NAME_PATTERN, found.password),
            "password is the name of a secret such as work_calendar; if it was the value, renew it",
        ),
        (
            bool(found.user) and bool(found.password) == (found.oauth is not None),
            "user needs password, the name of a secret, or oauth, and not both",
        ),
        (found.poll < _MIN_POLL_SECONDS, f"poll must be at least {_MIN_POLL_SECONDS} seconds"),
        (any(not each.strip() for each in found.calendars), "a calendar's name may not be empty"),
    )


read = SettingsTable(
    CalendarServer,
    "calendars",
    "accounts",
    "a url",
    _wrong,
    name=lambda name: _is_name(name) and name != OWN,
    naming=f"{_NAMING}, and not {OWN}",
).read
