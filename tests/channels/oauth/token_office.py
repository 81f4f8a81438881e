"""A mail server on loopback that takes access tokens: SMTP with XOAUTH2 as Google speaks it.

`SaslOffice` believes what Dovecot says about a login, as Postfix does.
"""

import asyncio
import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from aiosmtpd.smtp import SMTP, AuthResult

from tests.channels.mail.mail import PostOffice
from tests.channels.oauth.identity_server import USER

REFUSAL = json.dumps({"status": "401", "schemes": "Bearer", "scope": "https://mail.google.com/"})


@dataclass
class TokenOffice(PostOffice):
    """`knows` says whether an access token counts; `shown` holds those that were shown."""

    knows: Callable[[str], bool] = lambda _: True
    login: bool = True
    shown: list[str] = field(default_factory=list)
    replies: list[bytes] = field(default_factory=list)  # to the challenge of a refusal

    async def auth_XOAUTH2(self, server: SMTP, args: list[str]) -> AuthResult:  # noqa: N802 - the library's name
        user, auth, *rest = base64.b64decode(args[1]).decode().split("\x01")
        token = auth.removeprefix("auth=Bearer ")
        self.shown.append(token)
        if user == f"user={USER}" and rest == ["", ""] and self.knows(token):
            return AuthResult(success=True, auth_data=user)
        said = await server.challenge_auth(REFUSAL)
        self.replies.append(said if isinstance(said, bytes) else b"?")
        return AuthResult(success=False, handled=False)


@dataclass
class SaslOffice(PostOffice):
    """Dovecot judges each login, over its protocol for mail servers (version 1)."""

    sasl: Path = Path()
    login: bool = True
    verdicts: list[str] = field(default_factory=list)

    async def auth_XOAUTH2(self, server: SMTP, args: list[str]) -> AuthResult:  # noqa: N802 - the library's name
        reader, writer = await asyncio.open_unix_connection(self.sasl)
        try:
            writer.write(b"VERSION\t1\t1\nCPID\t4711\n")
            while await reader.readline() != b"DONE\n":
                pass
            said = await _asked(reader, writer, f"AUTH\t1\tXOAUTH2\tservice=smtp\tresp={args[1]}")
            while said[0] == "CONT":
                answer = await server.challenge_auth(base64.b64decode(said[2]), encode_to_b64=True)
                if not isinstance(answer, bytes):
                    return AuthResult(success=False)
                again = base64.b64encode(answer).decode()
                said = await _asked(reader, writer, f"CONT\t1\t{again}")
        finally:
            writer.close()
        self.verdicts.append(said[0])
        return AuthResult(success=said[0] == "OK", handled=False, auth_data=said)


async def _asked(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: str
) -> list[str]:
    writer.write(line.encode() + b"\n")
    return (await reader.readline()).decode().rstrip("\n").split("\t")
