"""Tokens over HTTP, and those of one sign-in: kept as a secret, renewed before they end.

What a provider writes in `error_description` is shown nowhere: only codes that the standards name
are repeated. One renewal is made at a time.

A new refresh token is stored before the access token that came with it is used. If the process dies
between the provider's answer and that write, the old refresh token is still stored: Google keeps it
valid, Microsoft too, and a provider that takes each one once answers invalid_grant, so the owner
is asked to sign in again. In no case is anything sent.
"""

import asyncio
import base64
import hashlib
import logging
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Final, Protocol
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import replace

from remit.channels.oauth import OAuthClient
from remit.errors import Permanent, Transient
from remit.ports import Clock
from remit.store.secrets import Secrets
from remit.system import http_client
from remit.system.background import Background, LoopGroup
from remit.system.http_client import HttpFailure

SECONDS: Final = 15.0  # for one answer of a token endpoint
DEVICE_GRANT: Final = "urn:ietf:params:oauth:grant-type:device_code"
_TOKEN: Final = re.compile(r"[\x21-\x7e]{1,16384}")
_CODE: Final = re.compile(r"[a-z_]{1,40}")
_MAX_LIFE_SECONDS: Final = 86_400
_DEFAULT_LIFE_SECONDS: Final = 3_600
_BUSY: Final = frozenset({408, 425, 429})
_LATER: Final = frozenset({"temporarily_unavailable", "server_error"})


class TokenGrant(Struct, frozen=True):
    """Granted tokens. `refresh` is empty if the old refresh token stays valid."""

    access: str
    refresh: str
    seconds: int

    def __repr__(self) -> str:
        return "TokenGrant(…)"


class TokenRefusal(Struct, frozen=True):
    """A provider's clear no, by its code in the standard, such as invalid_grant."""

    error: str


class DeviceCode(Struct, frozen=True):
    """A code that the owner types in at an address while Remit polls with another one."""

    device_code: str
    user_code: str
    address: str
    seconds: int
    interval: int


def new_secret() -> str:
    """A value nobody guesses: for `state`, and for the verifier of PKCE."""
    return secrets.token_urlsafe(48)


def challenge_of(verifier: str) -> str:
    """The S256 challenge of a verifier (RFC 7636)."""
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")


def authorization_url(
    client: OAuthClient, redirect: str, state: str, verifier: str, user: str
) -> str:
    """Return the address of the page where the owner signs in and consents."""
    asked = {
        "response_type": "code",
        "client_id": client.client_id,
        "redirect_uri": redirect,
        "scope": client.scope,
        "state": state,
        "code_challenge": challenge_of(verifier),
        "code_challenge_method": "S256",
        **({"login_hint": user} if user else {}),
        **client.provider.parameters,
    }
    joint = "&" if "?" in client.provider.authorize_url else "?"
    return f"{client.provider.authorize_url}{joint}{urlencode(asked)}"


async def redeem(
    client: OAuthClient, code: str, verifier: str, redirect: str
) -> TokenGrant | TokenRefusal:
    """Exchange the code of a redirect; raises `Transient` if no clear answer came."""
    grant = {
        "grant_type": "authorization_code",
        "code": code,
        "code_verifier": verifier,
        "redirect_uri": redirect,
    }
    return await _ask_for_grant(client, grant)


async def refresh(client: OAuthClient, token: str) -> TokenGrant | TokenRefusal:
    return await _ask_for_grant(client, {"grant_type": "refresh_token", "refresh_token": token})


async def poll_device(client: OAuthClient, device_code: str) -> TokenGrant | TokenRefusal:
    return await _ask_for_grant(client, {"grant_type": DEVICE_GRANT, "device_code": device_code})


async def ask_device_code(client: OAuthClient) -> DeviceCode | TokenRefusal:
    """Begin a device flow (RFC 8628)."""
    reply = await _ask(client, client.provider.device_url, {"scope": client.scope})
    if isinstance(reply, TokenRefusal):
        return reply
    code, words = reply.get("device_code"), reply.get("user_code")
    address = reply.get("verification_uri")
    if not (_is_token(code) and _is_token(words) and _is_token(address)):
        raise Transient(f"{client.called} gave no device code. Try again later.")
    life = _number(reply.get("expires_in"), 900)
    return DeviceCode(str(code), str(words), str(address), life, _number(reply.get("interval"), 5))


async def revoke(client: OAuthClient, token: str) -> bool:
    """Take a token back at the provider (RFC 7009); whether it said yes."""
    if not client.provider.revoke_url:
        return False
    reply = await _ask(client, client.provider.revoke_url, {"token": token})
    return not isinstance(reply, TokenRefusal)


async def _ask_for_grant(
    client: OAuthClient, fields: Mapping[str, str]
) -> TokenGrant | TokenRefusal:
    reply = await _ask(client, client.provider.token_url, fields)
    if isinstance(reply, TokenRefusal):
        return reply
    access, new = reply.get("access_token"), reply.get("refresh_token", "")
    kind = str(reply.get("token_type", "")).lower()
    if not _is_token(access) or kind != "bearer" or not (new == "" or _is_token(new)):
        raise Transient(f"{client.called} answered with what is no access token.")
    return TokenGrant(
        str(access), str(new), _number(reply.get("expires_in"), _DEFAULT_LIFE_SECONDS)
    )


async def _ask(
    client: OAuthClient, url: str, fields: Mapping[str, str]
) -> dict[str, object] | TokenRefusal:
    """Post one form, without redirects; the answer, or the provider's no."""
    secret = client.client_secret()
    named = {"client_id": client.client_id, **({"client_secret": secret} if secret else {})}
    form = urlencode({**fields, **named}).encode("ascii")
    headers = {"content-type": "application/x-www-form-urlencoded"}
    async with http_client.open_client(url) as http:
        reply = await http_client.post_bytes(http, url, headers, form, SECONDS)
    if isinstance(reply, HttpFailure):
        raise Transient(f"{client.called} could not be asked for an access token ({reply.why}).")
    values = http_client.fields_of(reply.body)
    error = values.get("error")
    if reply.status // 100 == 2 and error is None:  # noqa: PLR2004 - as the protocol counts
        return values
    code = error if isinstance(error, str) and _CODE.fullmatch(error) else ""
    if reply.status // 100 != 4 or reply.status in _BUSY or not code or code in _LATER:  # noqa: PLR2004
        raise Transient(f"{client.called} gives no access token now ({reply.status}).")
    return TokenRefusal(code)


def _is_token(value: object) -> bool:
    return isinstance(value, str) and _TOKEN.fullmatch(value) is not None


def _number(value: object, default: int) -> int:
    """Seconds of an answer; some providers write them as text."""
    text = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
    found = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else default  # noqa: PLR2004
    return min(max(found, 1), _MAX_LIFE_SECONDS)


AHEAD: Final = timedelta(minutes=5)  # so long before its end an access token is renewed
CHECK_SECONDS: Final = 60.0
_ENDED: Final = "ended"
_LOG: Final = logging.getLogger("remit.oauth")
_WRONG_CLIENT: Final = frozenset({"invalid_client", "unauthorized_client"})


class SignInEnded(Permanent):
    """The provider takes the sign-in no longer; the owner must sign in again."""


class KnownSecrets(Protocol):
    """Removes known secrets from texts."""

    def learn(self, values: Iterable[str]) -> None: ...

    def forget(self, values: Iterable[str]) -> None: ...


class StoredSignIn(Struct, frozen=True):
    """The tokens as they are stored: words with a space between, so that each is known as secret.

    `ended`: the provider refused the refresh token, so it is not asked again.
    """

    refresh: str
    access: str
    expires: int  # seconds since 1970
    ended: bool = False

    def __repr__(self) -> str:
        return "StoredSignIn(…)"

    @property
    def text(self) -> str:
        words = [self.refresh, self.access, str(self.expires)]
        return " ".join([*words, _ENDED] if self.ended else words)


def parse_sign_in(text: str) -> StoredSignIn | None:
    """Parse a stored sign-in; None if the text is none."""
    words = text.split()
    if len(words) not in (3, 4) or not words[2].isdecimal():
        return None
    return StoredSignIn(words[0], words[1], int(words[2]), ended=words[3:] == [_ENDED])


def store_grant(kept: Secrets, name: str, grant: TokenGrant, now: datetime) -> None:
    """Store a new sign-in of the owner in place of the one from before."""
    kept.put(name, StoredSignIn(grant.refresh, grant.access, _end_of(grant, now)).text)


class TokenSource:
    """Gives the current access token. It blocks while it renews one: call it in a thread."""

    def __init__(
        self,
        client: OAuthClient,
        kept: Secrets,
        name: str,
        *,
        now: Callable[[], datetime],
        keys: KnownSecrets,
        todo: str,
    ) -> None:
        self._client = client
        self._kept = kept
        self._name = name  # of the secret
        self._now = now
        self._keys = keys
        self._seen: list[StoredSignIn] = []  # the last two: older tokens have ended
        self._todo = todo  # the command that signs in again

    def __call__(self) -> str:
        """Return an access token that is valid for some minutes; it may be a new one."""
        return self._token("")

    def renew(self, refused: str) -> str:
        """Return another access token than one that a server refused."""
        return self._token(refused)

    def _token(self, refused: str) -> str:
        with self._kept.one_at_a_time(self._name):
            stored = self._read()
            left = stored.expires - self._now().timestamp()
            if stored.access != refused and left > AHEAD.total_seconds():
                return stored.access
            try:
                reply = asyncio.run(refresh(self._client, stored.refresh))
            except Transient:
                if stored.access != refused and left > 0:
                    return stored.access  # it is renewed next time
                raise
            if isinstance(reply, TokenRefusal):
                return self._end_refused_sign_in(stored, reply)
            made = StoredSignIn(
                reply.refresh or stored.refresh, reply.access, _end_of(reply, self._now())
            )
            return self._write(stored, made).access

    def _read(self) -> StoredSignIn:
        found = parse_sign_in(self._kept.find(self._name))
        if found is None:
            raise SignInEnded(f"{self._client.called} is not connected yet. Run `{self._todo}`.")
        self._hide(found)
        if found.ended:
            raise self._sign_in_ended()
        return found

    def _end_refused_sign_in(self, stored: StoredSignIn, answer: TokenRefusal) -> str:
        if answer.error in _WRONG_CLIENT:
            raise SignInEnded(
                f"{self._client.called} does not know the client id or the client secret "
                f"({answer.error}). Put the right ones in, then run `{self._todo}`."
            )
        kept = self._write(stored, replace(stored, ended=True))
        if kept.ended:
            raise self._sign_in_ended()
        return kept.access  # somebody else has signed in or renewed it meanwhile

    def _write(self, old: StoredSignIn, new: StoredSignIn) -> StoredSignIn:
        """Store a change of a sign-in, unless it was replaced meanwhile; return what is stored."""

        def change(text: str) -> str:
            found = parse_sign_in(text)
            return text if found is not None and found.refresh != old.refresh else new.text

        self._hide(new)
        return parse_sign_in(self._kept.change(self._name, change)) or new

    def _hide(self, found: StoredSignIn) -> None:
        """Have its tokens removed from every text, and those of long ago no more."""
        self._keys.learn((found.refresh, found.access))
        if found not in self._seen:
            self._seen.append(found)
        while len(self._seen) > 2:  # noqa: PLR2004
            old = self._seen.pop(0)
            self._keys.forget((old.text, old.access))

    def _sign_in_ended(self) -> SignInEnded:
        return SignInEnded(
            f"{self._client.called} no longer accepts the sign-in: it was revoked, or has ended. "
            f"Run `{self._todo}`."
        )


class SignInWatch(LoopGroup):
    """Renews every sign-in ahead of time; one that has ended is told to the owner, once."""

    def __init__(
        self, sources: Iterable[tuple[str, TokenSource]], clock: Clock, background: Background
    ) -> None:
        loops = {f"sign-in {name}": partial(self._look_on, name, each) for name, each in sources}
        super().__init__(background, loops)
        self._clock = clock

    async def _look_on(self, name: str, source: TokenSource) -> None:
        while True:
            try:
                await asyncio.to_thread(source)
            except Transient as error:
                _LOG.info("The sign-in of %s is not renewed yet: %s", name, error)
            await self._clock.sleep(CHECK_SECONDS)


def _end_of(grant: TokenGrant, now: datetime) -> int:
    return int(now.timestamp()) + grant.seconds
