"""OAuth over HTTP: PKCE, the authorization address, and what a token endpoint answers.

What a provider writes in `error_description` is shown nowhere: only codes that the standards name
are repeated.
"""

import base64
import hashlib
import re
import secrets
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

from msgspec import Struct

from remit.channels.oauth.providers import OAuthClient
from remit.errors import Transient
from remit.system import http_client
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
    """What a provider granted. `refresh` is empty if the one from before goes on."""

    access: str
    refresh: str
    seconds: int

    def __repr__(self) -> str:
        return "TokenGrant(…)"


class TokenRefusal(Struct, frozen=True):
    """A provider's clear no, by its code in the standard, such as invalid_grant."""

    error: str


class DeviceCode(Struct, frozen=True):
    """What the owner types in at an address, and what Remit asks with meanwhile."""

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
    """Where the owner signs in and consents."""
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
    return await _granted(client, grant)


async def refresh(client: OAuthClient, token: str) -> TokenGrant | TokenRefusal:
    return await _granted(client, {"grant_type": "refresh_token", "refresh_token": token})


async def poll_device(client: OAuthClient, device_code: str) -> TokenGrant | TokenRefusal:
    return await _granted(client, {"grant_type": DEVICE_GRANT, "device_code": device_code})


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


async def _granted(client: OAuthClient, fields: Mapping[str, str]) -> TokenGrant | TokenRefusal:
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
