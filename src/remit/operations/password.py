"""The password for signing in from elsewhere: what is weak, how it is kept, how often it is tried.

Only a hash is kept, in the secret store. Guessing is limited for each source and for all unknown
browsers together. A browser that has signed in before proves it with a device cookie and has a
limit of its own, so nobody else can lock the owner out.
"""

import hashlib
import hmac
import ipaddress
import secrets
from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct

from remit.errors import BadInput, NotPossibleNow
from remit.store.secrets import Secrets, machine_ring
from remit.store.spending import Rates

SECRET: Final = "sign_in_password"  # noqa: S105 - the name of one
SHORTEST: Final = 12  # characters
_LEAST_DIFFERENT: Final = 6
_COST, _BLOCK, _PARALLEL = 2**15, 8, 1  # 32 MB and about a tenth of a second
_MEMORY: Final = 64 * 1024 * 1024
_KNOWN_WORDS: Final = ("password", "passwort", "contraseña", "remit", "qwerty", "letmein", "12345")
_FREE_TRIES: Final = 5
_FREE_TRIES_OF_UNKNOWN: Final = 100
_FIRST_PAUSE: Final = timedelta(seconds=30)
_LONGEST_PAUSE: Final = timedelta(minutes=15)
_FORGOTTEN_AFTER: Final = timedelta(hours=1)


def refuse_weak(password: str, names: tuple[str, ...] = ()) -> None:
    """Raise a sentence if a password is easy to guess; `names` are those that others know."""
    plain = password.casefold()
    known = [each for each in (*_KNOWN_WORDS, *names) if len(each) > 2 and each.casefold() in plain]  # noqa: PLR2004
    rest = plain
    for each in known:
        rest = rest.replace(each.casefold(), "")
    kind: type[BadInput] = NotPossibleNow  # what no schema can foresee
    if len(password) < SHORTEST:
        kind, problem = BadInput, f"has {len(password)} characters; it needs at least {SHORTEST}"
    elif len(set(plain)) < _LEAST_DIFFERENT:
        problem = f"has fewer than {_LEAST_DIFFERENT} different characters"
    elif known and len(rest) < SHORTEST:
        problem = f"contains {known[0]!r}, which others would try, and little else"
    elif plain.isdecimal():
        problem = "is digits alone"
    else:
        return
    raise kind(f"This password {problem}. Four random words are good.", field="password")


def is_set(home: Path) -> bool:
    """Whether there is a password; call it in a thread, a keyring loads slowly."""
    return SECRET in Secrets(home, machine_ring(home)).names()


def hash_password(password: str) -> str:
    salt = secrets.token_bytes(16)
    parts = (b64encode(each).decode() for each in (salt, _digest(password, salt)))
    return f"scrypt${_COST}${'$'.join(parts)}"


def fits(password: str, kept: str) -> bool:
    """Whether it is the password, compared in constant time."""
    try:
        _, _, salt, digest = kept.split("$")
        return hmac.compare_digest(_digest(password, b64decode(salt)), b64decode(digest))
    except ValueError:
        return False


def _digest(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(
        password.encode(), salt=salt, n=_COST, r=_BLOCK, p=_PARALLEL, maxmem=_MEMORY
    )


def source_of(address: str) -> str:
    """Return who counts as one source: an address, or a network of one IPv6 customer."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)


class SignInFailures(Struct, frozen=True):
    count: int = 0
    at: datetime | None = None  # the last one


class SignInLimiter:
    """Counts failed tries, and says how long to wait before the next."""

    def __init__(self, now: Callable[[], datetime], rates: Rates | None = None) -> None:
        self._now = now
        self._rates = rates or Rates()

    async def begin(self, source: str, device: str) -> timedelta:
        """Return how long this browser must wait; zero: it may try now, and that counts.

        It counts before the slow check, so many tries at once count, too.
        """
        for bucket in _buckets(source, device):
            if pause := await self._change(bucket, partial(_count, bucket, self._now())):
                return pause
        return timedelta()

    async def succeeded(self, source: str, device: str) -> None:
        for bucket in _buckets(source, device)[:1]:
            await self._change(bucket, lambda _: (SignInFailures(), timedelta()))

    async def _change(
        self, bucket: str, work: Callable[[SignInFailures], tuple[SignInFailures, timedelta]]
    ) -> timedelta:
        now = self._now()
        name = f"sign-in: {bucket}"
        return await self._rates.change(name, SignInFailures(), work, now, now + _FORGOTTEN_AFTER)


def _buckets(source: str, device: str) -> tuple[str, ...]:
    return (f"device {device}",) if device else (f"source {source}", "everybody unknown")


def _count(bucket: str, now: datetime, known: SignInFailures) -> tuple[SignInFailures, timedelta]:
    at = known.at or now
    count = 0 if now - at > _FORGOTTEN_AFTER else known.count
    free = _FREE_TRIES_OF_UNKNOWN if bucket.startswith("everybody") else _FREE_TRIES
    if count >= free:
        pause: timedelta = min(_FIRST_PAUSE * (1 << min(count - free, 10)), _LONGEST_PAUSE)
        if (left := at + pause - now) > timedelta():
            return known, left
    return SignInFailures(count + 1, now), timedelta()
