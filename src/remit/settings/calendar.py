"""Calendar settings: Remit's own calendar, and `[calendars.NAME]` for any other server.

[calendars.work]
url = "https://dav.example.org/"
user = "hanan"
password = "work_calendar"        # the name of a secret, never its value
calendars = ["Agenda"]            # only these start work; none named, none does
trusted = true                    # nobody but you writes there

"""

import re
from datetime import time
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from remit.errors import BadInput
from remit.settings.table import SettingsTable

OWN: Final = "own"
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
_SECRET: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
_HOUR: Final = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")
_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_MIN_POLL_SECONDS: Final = 5


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
    calendars: tuple[str, ...] = ()
    trusted: bool = False
    poll: int = 60  # seconds between two polls
    plain: bool = False  # allows a connection without TLS, in your own network


def check_hour(text: str, where: str) -> None:
    if not _HOUR.fullmatch(text):
        sentence = f"all_day_at in {where} is {text!r:.60}; one looks like 09:00."
        raise BadInput(sentence, field="all_day_at")


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
            bool(found.password) and not _SECRET.fullmatch(found.password),
            "password is the name of a secret such as work_calendar; if it was the value, renew it",
        ),
        (bool(found.user) and not found.password, "user needs password, the name of a secret"),
        (found.poll < _MIN_POLL_SECONDS, f"poll must be at least {_MIN_POLL_SECONDS} seconds"),
        (any(not each.strip() for each in found.calendars), "a calendar's name may not be empty"),
    )


_ACCOUNTS: Final = SettingsTable(
    kind=CalendarServer,
    called="calendars",
    of="accounts",
    needs="a url",
    wrong=_wrong,
    name=lambda name: _NAME.fullmatch(name) is not None and name != OWN,
    naming=f"a name is of small letters, digits and _, and not {OWN}",
)
read = _ACCOUNTS.read
