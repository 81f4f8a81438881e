"""Sign in at a provider: by a redirect to this machine (RFC 8252), or by a device code (RFC 8628).

An attempt belongs to one account and whoever began it. Its `state` and its PKCE verifier are new,
it ends after ten minutes, and it is used once. A redirect that does not fit changes nothing.
"""

import asyncio
import hmac
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from types import TracebackType
from typing import Final, Self
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct

from remit.channels.oauth import CALLBACK, NewAccount, OAuthClient, tokens
from remit.channels.oauth.tokens import DeviceCode, TokenGrant, TokenRefusal
from remit.errors import BadInput, Transient

LIFE: Final = timedelta(minutes=10)
PARAMETERS: Final = frozenset({"code", "state", "error", "iss"})
_LOOPBACK: Final = "127.0.0.1"
_MOST_ATTEMPTS: Final = 20
_MAX_HEAD_BYTES: Final = 16_384
_HEAD_SECONDS: Final = 10.0
_NOT_OURS: Final = "This is not the sign-in that Remit waits for. Begin again."
_PAGE: Final = """\
HTTP/1.1 {status}\r
Content-Type: text/plain; charset=utf-8\r
Content-Length: {length}\r
Cache-Control: no-store\r
Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r
Referrer-Policy: no-referrer\r
X-Content-Type-Options: nosniff\r
Connection: close\r
\r
{text}"""
# What the codes of the standards mean; nothing else that a provider says is shown.
_REASONS: Final = {
    "access_denied": "You declined there, so nothing is connected.",
    "authorization_declined": "You declined there, so nothing is connected.",
    "expired_token": "The code was not typed in in time. Begin again.",
    "invalid_client": "It does not know the client id, or the client secret is wrong.",
    "invalid_grant": "The code was used before, or is too old. Begin again.",
    "invalid_scope": "Your app there may not ask for these rights; add them to it.",
    "redirect_uri_mismatch": "Your app there must be one for the desktop.",
    "unauthorized_client": "Your app there may not sign in like this; the how-to has the steps.",
}


class SignInAttempt(Struct, frozen=True, kw_only=True):
    """One attempt of one caller to connect one account."""

    client: OAuthClient
    account: str  # its section of the settings, such as `channels.gmail`
    key: str  # of whoever began it: a browser's sign-in
    state: str
    verifier: str
    redirect: str
    url: str  # where the owner signs in
    until: datetime
    new: NewAccount | None = None  # what is written to the settings once it worked
    secret: str = ""  # the client secret of a new account

    def __repr__(self) -> str:
        return f"SignInAttempt({self.account})"


def begin(
    client: OAuthClient, account: str, redirect: str, *, user: str, key: str, now: datetime
) -> SignInAttempt:
    state, verifier = tokens.new_secret(), tokens.new_secret()
    return SignInAttempt(
        client=client,
        account=account,
        key=key,
        state=state,
        verifier=verifier,
        redirect=redirect,
        url=tokens.authorization_url(client, redirect, state, verifier, user),
        until=now + LIFE,
    )


async def finish(attempt: SignInAttempt, parameters: Mapping[str, str]) -> TokenGrant:
    """Exchange the code of a redirect; BadInput says what is wrong with it."""
    if not is_state(attempt, parameters.get("state", "")):
        raise BadInput(_NOT_OURS, field="state")
    issuer = attempt.client.provider.issuer
    if issuer and parameters.get("iss", issuer) != issuer:
        raise BadInput("Another provider answered than the one that was asked.", field="iss")
    if "error" in parameters:
        raise refusal_error(attempt.client, parameters["error"])
    code = parameters.get("code", "")
    if not code or not code.isascii() or not code.isprintable():
        raise BadInput("The provider sent no code back. Begin again.", field="code")
    reply = await tokens.redeem(attempt.client, code, attempt.verifier, attempt.redirect)
    return _usable(attempt.client, reply)


def is_state(attempt: SignInAttempt, state: str) -> bool:
    return hmac.compare_digest(attempt.state.encode(), state.encode("utf-8", "replace"))


def refusal_error(client: OAuthClient, error: str) -> BadInput:
    """The sentence for a provider's no."""
    why = _REASONS.get(error, "It gave a reason that Remit does not know. Try again later.")
    return BadInput(f"{client.called} did not let Remit in. {why}", field="oauth")


def _usable(client: OAuthClient, answer: TokenGrant | TokenRefusal) -> TokenGrant:
    if isinstance(answer, TokenRefusal):
        raise refusal_error(client, answer.error)
    if not answer.refresh:
        sentence = f"{client.called} gave no refresh token, so the sign-in would end in an hour."
        raise BadInput(sentence, field="oauth")
    return answer


def keep_attempt(open_: dict[str, SignInAttempt], attempt: SignInAttempt) -> None:
    """Keep an attempt of a running Remit, in memory: after a restart begin again."""
    while len(open_) >= _MOST_ATTEMPTS:
        del open_[next(iter(open_))]
    open_[attempt.state] = attempt


def take_attempt(
    open_: dict[str, SignInAttempt], state: str, key: str, now: datetime
) -> SignInAttempt:
    """Use an attempt up; only whoever began it may, and once."""
    found = open_.get(state)
    if found is None or found.key != key:
        raise BadInput(_NOT_OURS, field="state")
    del open_[state]
    if now >= found.until:
        raise BadInput("This sign-in took too long. Begin again.", field="state")
    return found


class LoopbackRedirect:
    """Waits on a random port of this machine for the one redirect of an attempt."""

    def __init__(self, client: OAuthClient) -> None:
        self._client = client
        self._attempt: SignInAttempt | None = None
        self._server: asyncio.Server | None = None
        self._came: asyncio.Future[Mapping[str, str]] | None = None

    async def __aenter__(self) -> Self:
        self._came = asyncio.get_running_loop().create_future()
        self._server = await asyncio.start_server(self._serve, _LOOPBACK, 0, limit=_MAX_HEAD_BYTES)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None  # noqa: S101 - it was entered
        self._server.close()
        await self._server.wait_closed()

    @property
    def host(self) -> str:
        assert self._server is not None  # noqa: S101 - it was entered
        port = self._server.sockets[0].getsockname()[1]
        return f"{self._client.provider.redirect_host}:{port}"

    @property
    def address(self) -> str:
        return f"http://{self.host}{CALLBACK}"

    async def wait(self, attempt: SignInAttempt) -> Mapping[str, str]:
        """Return what the redirect says; anything else that calls here is refused."""
        assert self._came is not None  # noqa: S101 - it was entered
        self._attempt = attempt
        try:
            async with asyncio.timeout(LIFE.total_seconds()):
                return await self._came
        except TimeoutError:
            raise BadInput("Nobody signed in within ten minutes. Begin again.") from None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, ValueError, TimeoutError, asyncio.IncompleteReadError):
            async with asyncio.timeout(_HEAD_SECONDS):
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                found = self._redirect_in(head)
                text = "Signed in. You can close this page." if found else _NOT_OURS
                status = "200 OK" if found else "400 Bad Request"
                page = _PAGE.format(status=status, length=len(text), text=text)
                writer.write(page.encode("ascii"))
                await writer.drain()
            if found and self._came is not None and not self._came.done():
                self._came.set_result(found)
        writer.close()

    def _redirect_in(self, head: str) -> Mapping[str, str] | None:
        """The parameters of our redirect, if this is it: method, host, path and state fit."""
        first, *lines = head.split("\r\n")
        method, _, rest = first.partition(" ")
        target = rest.removesuffix(" HTTP/1.1")
        hosts = [line[5:].strip() for line in lines if line.lower().startswith("host:")]
        parts = urlsplit(target)
        parameters = query_of(parts.query)
        fits = method == "GET" and hosts == [self.host] and target.startswith(CALLBACK + "?")
        if self._attempt is None or self._came is None or self._came.done() or parameters is None:
            return None
        return parameters if fits and is_state(self._attempt, parameters.get("state", "")) else None


def query_of(text: str) -> Mapping[str, str] | None:
    """The parameters of a redirect that we use; None if one of them stands there twice."""
    try:
        pairs = parse_qsl(text, strict_parsing=True, max_num_fields=20)
    except ValueError:
        return None
    ours = [pair for pair in pairs if pair[0] in PARAMETERS]
    return dict(ours) if len(dict(ours)) == len(ours) else None


async def sign_in_by_device(
    client: OAuthClient,
    show: Callable[[DeviceCode], None],
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> TokenGrant:
    """Show a code that the owner types in elsewhere, and ask until that is done."""
    code = await tokens.ask_device_code(client)
    if isinstance(code, TokenRefusal):
        raise refusal_error(client, code.error)
    show(code)
    pause, waited = float(code.interval), 0.0
    while waited < code.seconds:
        await sleep(pause)
        waited += pause
        try:
            reply = await tokens.poll_device(client, code.device_code)
        except Transient:
            pause *= 2  # as the standard wants it
            continue
        if reply == TokenRefusal("slow_down"):
            pause += 5
        elif reply != TokenRefusal("authorization_pending"):
            return _usable(client, reply)
    raise refusal_error(client, "expired_token")
