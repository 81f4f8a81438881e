"""The tokens of one sign-in: kept as a secret, renewed before they end, one renewal at a time.

A new refresh token is stored before the access token that came with it is used. If the process dies
between the provider's answer and that write, the old refresh token is still stored: Google keeps it
valid, Microsoft too, and a provider that takes each one once answers invalid_grant, so the owner
is asked to sign in again. In no case is anything sent.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from remit.channels.oauth import protocol
from remit.channels.oauth.protocol import TokenGrant, TokenRefusal
from remit.channels.oauth.providers import OAuthClient
from remit.errors import Permanent, Transient
from remit.ports import Clock
from remit.store.secrets import Secrets
from remit.system.background import Background

AHEAD: Final = timedelta(minutes=5)  # so long before its end an access token is renewed
CHECK_SECONDS: Final = 60.0
_ENDED: Final = "ended"
_LOG: Final = logging.getLogger("remit.oauth")
_WRONG_CLIENT: Final = frozenset({"invalid_client", "unauthorized_client"})


class SignInEnded(Permanent):
    """The provider takes the sign-in no longer; the owner must sign in again."""


class KnownSecrets(Protocol):
    """What removes known secrets from texts."""

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
    """What is stored under a name; None if it is no sign-in."""
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
                reply = asyncio.run(protocol.refresh(self._client, stored.refresh))
            except Transient:
                if stored.access != refused and left > 0:
                    return stored.access  # it is renewed next time
                raise
            if isinstance(reply, TokenRefusal):
                return self._refused(stored, reply)
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
            raise self._gone()
        return found

    def _refused(self, stored: StoredSignIn, answer: TokenRefusal) -> str:
        if answer.error in _WRONG_CLIENT:
            raise SignInEnded(
                f"{self._client.called} does not know the client id or the client secret "
                f"({answer.error}). Put the right ones in, then run `{self._todo}`."
            )
        kept = self._write(stored, replace(stored, ended=True))
        if kept.ended:
            raise self._gone()
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

    def _gone(self) -> SignInEnded:
        return SignInEnded(
            f"{self._client.called} no longer accepts the sign-in: it was revoked, or has ended. "
            f"Run `{self._todo}`."
        )


def watch_sign_ins(
    sources: Iterable[tuple[str, TokenSource]], clock: Clock, background: Background
) -> tuple[str, ...]:
    """Renew every sign-in ahead of time; one that has ended is told to the owner, once.

    Returns the names of the loops.
    """

    def start(name: str, source: TokenSource) -> str:
        async def look_on() -> None:
            while True:
                try:
                    await asyncio.to_thread(source)
                except Transient as error:
                    _LOG.info("The sign-in of %s is not renewed yet: %s", name, error)
                await clock.sleep(CHECK_SECONDS)

        background.start(f"sign-in {name}", look_on)
        return f"sign-in {name}"

    return tuple(start(name, source) for name, source in sources)


def _end_of(grant: TokenGrant, now: datetime) -> int:
    return int(now.timestamp()) + grant.seconds
