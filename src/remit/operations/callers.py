"""Authenticates callers: the owner by token or browser session, a program by its own token.

The store holds only hashes. A revoked token or session is refused from the next request on, and its
sockets are closed. Guessing a password is limited for each source and for all unknown browsers
together. A browser that has signed in before proves it with a device cookie and has a limit of its
own, so nobody else can lock the owner out.
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
from urllib.parse import quote

from msgspec import Struct

from remit.errors import BadInput, NotFound, NotPossibleNow
from remit.model.caller import OWNER, OWNERS, Caller, Scope
from remit.model.codec import Json, JsonMap, pick_fields
from remit.model.ids import Ids
from remit.operations.texts import is_readable_line
from remit.ports import Clock
from remit.store import callers
from remit.store.callers import ApiToken, SignIn
from remit.store.database import Database
from remit.store.secrets import Secrets, machine_ring
from remit.store.spending import Rates

PROGRAM: Final = "tok-"  # prefix of a program's token id
PREFIX: Final = "remit_"  # so that a token is recognised wherever it is found
CODE_LIFE: Final = timedelta(minutes=15)
SIGN_IN_LIFE: Final = timedelta(days=30)
_TOUCH_EVERY: Final = timedelta(minutes=1)
_BYTES: Final = 32
_LONGEST_NAME: Final = 60
_RESERVED: Final = frozenset({"owner", "nobody"})


class KnownCaller(Struct, frozen=True):
    """A caller and its key: `owner`, or the id of a token or sign-in."""

    caller: Caller
    key: str
    until: datetime | None = None
    cookie: bool = False  # sent by a browser automatically, so its site must be checked


class CallerRegistry:
    """Knows every caller; makes and revokes tokens and sign-ins."""

    def __init__(
        self, db: Database, clock: Clock, ids: Ids, token: str, port: int = 0, pages_url: str = ""
    ) -> None:
        self.cookie = cookie_of(port)
        self.pages_url = pages_url  # where browsers see the pages
        self._db = db
        self._clock = clock
        self._ids = ids
        self._token = token.encode()
        self.limiter = SignInLimiter(clock.now, Rates(db))
        self._gone: list[Callable[[str], None]] = []

    def on_gone(self, tell: Callable[[str], None]) -> None:
        """Call `tell(key)` when a token or a sign-in has ended."""
        self._gone.append(tell)

    # Who it is ----------------------------------------------------------------------------------

    async def by_token(self, given: bytes) -> KnownCaller | None:
        if hmac.compare_digest(given, self._token):
            return KnownCaller(OWNER, "owner")
        now = self._clock.now()
        token = await self._db.read(callers.token_of, _digest(given), now)
        if token is None:
            return None
        if _is_stale(token.used_at, now):
            await self._db.write(callers.touch_token, token.id, now)
        return KnownCaller(token.caller, token.id, token.expires_at)

    async def by_cookie(self, given: bytes) -> KnownCaller | None:
        now = self._clock.now()
        found = await self._db.read(callers.sign_in_of, _digest(given), now)
        if found is None:
            return None
        if _is_stale(found.used_at, now):
            await self._db.write(callers.touch_sign_in, found.id, now)
        return KnownCaller(OWNER, found.id, found.expires_at, cookie=True)

    # Browsers -----------------------------------------------------------------------------------

    async def code(self) -> str:
        """Return the code of a link: valid once, for a quarter of an hour."""
        made, now = secrets.token_urlsafe(_BYTES), self._clock.now()
        await self._db.write(callers.add_code, _digest(made.encode()), now, now + CODE_LIFE)
        return made

    async def sign_in_by_code(self, code: str) -> str | None:
        """Use up a code; return the browser's session secret, or None if it is not valid."""
        sign_in, secret = self._sign_in()
        digests = _digest(code.encode()), _digest(secret.encode())
        used = await self._db.write(callers.exchange, digests[0], sign_in, digests[1])
        return secret if used else None

    async def link(self, after: str = "") -> str:
        """Return a link that signs one browser in, once, and then shows the page `after`."""
        more = f"&next={quote(after, safe='/')}" if after else ""
        return f"{self.pages_url}/sign-in?code={await self.code()}{more}"

    def is_owners(self, token: str) -> bool:
        return hmac.compare_digest(token.strip().encode(), self._token)

    async def new_sign_in(self) -> str:
        """Return the session secret for a browser whose owner has proved to be the owner."""
        sign_in, secret = self._sign_in()
        await self._db.write(callers.add_sign_in, sign_in, _digest(secret.encode()))
        return secret

    def new_device(self) -> str:
        """Return a proof that this browser has signed in once."""
        made = secrets.token_hex(16)
        return f"{made}.{self._proof(made)}"

    def device_of(self, given: str) -> str:
        """Return the device that a cookie proves; empty if it proves none."""
        if not given:
            return ""
        device, _, proof = given.partition(".")
        proved = hmac.compare_digest(proof.encode(), self._proof(device).encode())
        return device if device and proved else ""

    def _proof(self, device: str) -> str:
        return hmac.new(self._token, f"device {device}".encode(), hashlib.sha256).hexdigest()

    async def sign_ins(self) -> list[SignIn]:
        return await self._db.read(callers.sign_ins, self._clock.now())

    async def sign_out(self, sign_in: str) -> None:
        if not await self._db.write(callers.end_sign_in, sign_in, self._clock.now()):
            raise NotFound("sign-in", sign_in[:60])
        self._tell(sign_in)

    def _sign_in(self) -> tuple[SignIn, str]:
        now = self._clock.now()
        made = SignIn(id=f"sig-{self._ids.ulid()}", created_at=now, expires_at=now + SIGN_IN_LIFE)
        return made, secrets.token_urlsafe(_BYTES)

    # Programs -----------------------------------------------------------------------------------

    async def tokens(self) -> list[ApiToken]:
        return await self._db.read(callers.tokens)

    async def make(
        self, by: Caller, name: str, scopes: frozenset[Scope], *, agent: bool, days: int | None
    ) -> tuple[ApiToken, str]:
        """Return a new token and its secret, which cannot be shown again."""
        check(by, name, scopes, agent=agent)
        now = self._clock.now()
        until = None if days is None else now + timedelta(days=days)
        token = ApiToken(
            id=f"{PROGRAM}{self._ids.ulid()}",
            name=name,
            scopes=scopes,
            agent=agent,
            created_at=now,
            expires_at=until,
        )
        secret = PREFIX + secrets.token_urlsafe(_BYTES)
        await self._db.write(callers.add_token, token, _digest(secret.encode()))
        return token, secret

    async def revoke(self, token_id: str) -> ApiToken:
        token = await self._db.write(callers.revoke_token, token_id[:60], self._clock.now())
        self._tell(token_id)
        return token

    def _tell(self, key: str) -> None:
        for tell in self._gone:
            tell(key)


def cookie_of(port: int) -> str:
    """Return the cookie's name: cookies ignore ports, so it contains the port."""
    return f"remit-{port}"


def check(by: Caller, name: str, scopes: frozenset[Scope], *, agent: bool) -> None:
    """Refuse an invalid token request with a sentence."""
    if len(name) > _LONGEST_NAME or not is_readable_line(name):
        sentence = f"A token's name is 1 to {_LONGEST_NAME} letters on one line."
        raise BadInput(sentence, field="name")
    if name.casefold() in _RESERVED:
        sentence = f"{name!r} is what Remit itself calls someone; choose another name."
        raise NotPossibleNow(sentence, field="name")
    if not scopes:
        known = ", ".join(Scope)
        raise BadInput(f"A token needs at least one scope: {known}.", field="scopes")
    if agent and scopes & OWNERS:
        wrong = ", ".join(scope for scope in Scope if scope in scopes & OWNERS)
        sentence = f"An agent never decides: its token may hold read and write, not {wrong}."
        raise BadInput(sentence, field="scopes")
    if beyond := [scope for scope in Scope if scope in scopes and not by.may(scope)]:
        sentence = f"{by.name} may not give what it does not hold: {', '.join(beyond)}."
        raise BadInput(sentence, field="scopes")


def shape(token: ApiToken) -> JsonMap:
    """Return a token as JSON, without its secret."""
    scopes: list[Json] = [scope.value for scope in Scope if scope in token.scopes]
    times = pick_fields(token, "createdAt usedAt expiresAt revokedAt")
    return pick_fields(token, "id name agent") | {"scopes": scopes} | times


def _digest(secret: bytes) -> bytes:
    # Secrets have 256 random bits: a slow hash would add nothing.
    return hashlib.sha256(secret).digest()


def _is_stale(used_at: datetime | None, now: datetime) -> bool:
    """Whether to record the use: only once a minute, to save writes."""
    return used_at is None or now - used_at >= _TOUCH_EVERY


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
    parts = (b64encode(each).decode() for each in (salt, _scrypt(password, salt)))
    return f"scrypt${_COST}${'$'.join(parts)}"


def is_password(password: str, kept: str) -> bool:
    """Whether it is the password, compared in constant time."""
    try:
        _, _, salt, digest = kept.split("$")
        return hmac.compare_digest(_scrypt(password, b64decode(salt)), b64decode(digest))
    except ValueError:
        return False


def _scrypt(password: str, salt: bytes) -> bytes:
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
    at = min(known.at or now, now)  # the clock may have been ahead
    count = 0 if now - at > _FORGOTTEN_AFTER else known.count
    free = _FREE_TRIES_OF_UNKNOWN if bucket.startswith("everybody") else _FREE_TRIES
    if count >= free:
        pause: timedelta = min(_FIRST_PAUSE * (1 << min(count - free, 10)), _LONGEST_PAUSE)
        if (left := at + pause - now) > timedelta():
            return known, left
    return SignInFailures(count + 1, now), timedelta()
