"""An identity provider on loopback: what Google and Microsoft document of their OAuth endpoints.

    async with IdentityServer() as provider:
        provider.says["/token"] = [(400, {"error": "invalid_grant"})]   # of the next calls
        assert provider.asked[-1][0] == "/token"

Real HTTP over a real socket: the authorization page with consent (which it gives at once), codes
that count once and only with their verifier and redirect, device codes, refresh tokens that are
replaced at each use, revocation, and the introspection that a mail server asks.
"""

import asyncio
import base64
import hashlib
import json
from dataclasses import dataclass, field
from itertools import count
from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.live.loopback import Listener, head_of, read_head

CLIENT: Final = "1234.apps.example.test"
SECRET: Final = "GOCSPX-canary-7f3a91c4e2b85d60"
USER: Final = "nina@example.test"
USER_CODE: Final = "WDJB-MJHT"
DEVICE_GRANT: Final = "urn:ietf:params:oauth:grant-type:device_code"
HOSTILE: Final = "<script>alert(1)</script> canary-description"

Fields = dict[str, str]
Json = dict[str, object]


@dataclass(frozen=True)
class Code:
    """An authorization code that was given out."""

    redirect: str
    challenge: str


@dataclass
class IdentityServer(Listener):
    secret: str = SECRET  # empty: a public client, as at Microsoft
    rotates: bool = True  # a refresh token counts once
    declines: bool = False
    gives_refresh: bool = True
    life: int = 3600
    says: dict[str, list[tuple[int, Json]]] = field(default_factory=dict)  # by path, once each
    device_life: int = 900
    device: list[str] = field(default_factory=list)  # errors before a device code is granted
    asked: list[tuple[str, Fields]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    codes: dict[str, Code] = field(default_factory=dict)
    refresh: set[str] = field(default_factory=set)
    access: set[str] = field(default_factory=set)
    gate: asyncio.Event | None = None  # a refresh waits for it
    waits: asyncio.Event = field(default_factory=asyncio.Event)  # a refresh waits for the gate
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await read_head(reader)
        body = (await reader.readexactly(head.length)).decode()
        parts = urlsplit(head.path)
        fields = {name: each[0] for name, each in parse_qs(body or parts.query).items()}
        self.asked.append((parts.path, fields))
        self.headers.append(head.headers)
        if self.gate is not None and fields.get("grant_type") == "refresh_token":
            self.waits.set()
            await self.gate.wait()
        queued = self.says.get(parts.path)
        if queued:
            status, told = queued.pop(0)
        elif parts.path == "/authorize":
            status, told = self._consent(fields)
        else:
            status, told = _DOES[parts.path](self, fields | _bearer(head.headers))
        raw = json.dumps(told).encode()
        more = {"location": str(told["location"])} if status == 302 else {}
        headers = {"content-type": "application/json", "content-length": str(len(raw)), **more}
        writer.write(head_of(status, headers | {"connection": "close"}) + raw)
        await writer.drain()

    def grant(self) -> tuple[str, str]:
        """A refresh token and an access token that count."""
        refresh, access = self._new("1//refresh"), self._new("ya29.access")
        self.refresh.add(refresh)
        self.access.add(access)
        return refresh, access

    def code_for(self, redirect: str, challenge: str) -> str:
        code = self._new("4/code")
        self.codes[code] = Code(redirect, challenge)
        return code

    def asks(self, path: str) -> list[Fields]:
        return [fields for where, fields in self.asked if where == path]

    def _new(self, prefix: str) -> str:
        return f"{prefix}-canary-{next(self._numbers):04d}-d41d8cd98f00b204e9800998ecf8427e"

    def _consent(self, asked: Fields) -> tuple[int, Json]:
        redirect = asked.get("redirect_uri", "")
        near = urlsplit(redirect).hostname in ("127.0.0.1", "localhost")
        fits = asked.get("client_id") == CLIENT and asked.get("response_type") == "code"
        if not (near and fits and asked.get("code_challenge_method") == "S256"):
            return 400, {"error": "invalid_request"}
        told = {"state": asked["state"]}
        if self.declines:
            told |= {"error": "access_denied", "error_description": HOSTILE}
        else:
            told["code"] = self.code_for(redirect, asked["code_challenge"])
        return 302, {"location": f"{redirect}?{urlencode(told)}"}

    def token(self, asked: Fields) -> tuple[int, Json]:
        if asked.get("client_id") != CLIENT or asked.get("client_secret", "") != self.secret:
            return 401, {"error": "invalid_client", "error_description": HOSTILE}
        grants = {
            "authorization_code": self._by_code,
            "refresh_token": self._by_refresh,
            DEVICE_GRANT: self._by_device,
        }
        error, kept = grants[asked["grant_type"]](asked)
        if error:
            return 400, {"error": error, "error_description": HOSTILE}
        return self._granted(kept)

    def _by_code(self, asked: Fields) -> tuple[str, str]:
        code = self.codes.pop(asked.get("code", ""), None)
        shown = Code(asked.get("redirect_uri", ""), _challenge(asked["code_verifier"]))
        return ("", "") if code == shown else ("invalid_grant", "")

    def _by_refresh(self, asked: Fields) -> tuple[str, str]:
        used = asked["refresh_token"]
        if used not in self.refresh:
            return "invalid_grant", ""
        if self.rotates:
            self.refresh.discard(used)
        return "", "" if self.rotates else used

    def _by_device(self, asked: Fields) -> tuple[str, str]:
        fits = asked.get("device_code") == "device-canary"
        return (self.device.pop(0) if self.device else "", "") if fits else ("invalid_grant", "")

    def _granted(self, kept: str) -> tuple[int, Json]:
        refresh, access = self.grant()
        told: Json = {"access_token": access, "expires_in": self.life, "token_type": "Bearer"}
        if kept:
            self.refresh.discard(refresh)
        elif self.gives_refresh:
            told["refresh_token"] = refresh
        return 200, told

    def devicecode(self, _: Fields) -> tuple[int, Json]:
        return 200, {
            "device_code": "device-canary",
            "user_code": USER_CODE,
            "verification_uri": f"{self.root}/devicelogin",
            "expires_in": self.device_life,
            "interval": 1,
        }

    def revoke(self, asked: Fields) -> tuple[int, Json]:
        self.refresh.discard(asked.get("token", ""))
        self.access.clear()
        return 200, {}

    def introspect(self, asked: Fields) -> tuple[int, Json]:
        """What Dovecot asks about a token."""
        active = asked.get("bearer", asked.get("token", "")) in self.access
        return 200, {"active": active, **({"email": USER} if active else {})}


_DOES: Final = {
    "/token": IdentityServer.token,
    "/devicecode": IdentityServer.devicecode,
    "/revoke": IdentityServer.revoke,
    "/introspect": IdentityServer.introspect,
}


def _bearer(headers: dict[str, str]) -> Fields:
    kind, _, token = headers.get("authorization", "").partition(" ")
    return {"bearer": token} if kind.lower() == "bearer" else {}


def _challenge(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def query(url: str) -> Fields:
    return {name: each[0] for name, each in parse_qs(urlsplit(url).query).items()}
