"""A mail server account: its address, its credentials, and its connection security."""

import ipaddress
import re
import ssl
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from remit.errors import BadInput
from remit.system.http_client import Token

_HOST: Final = re.compile(
    r"(?=.{1,253}\Z)[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
    r"(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*"
)
_MOST_PORT: Final = 65_535
_FIT: Final = re.compile(r"[^\x00-\x1f\x7f]{1,256}")


class Security(StrEnum):
    """How the connection is encrypted. There is no fallback from one to another."""

    STARTTLS = "starttls"
    TLS = "tls"
    NONE = "none"  # only for this machine


@dataclass(frozen=True, slots=True)
class SmtpAccount:
    """An SMTP account. `password` is called at each use, so a renewed one needs no restart."""

    host: str
    port: int
    security: Security = Security.STARTTLS
    user: str | None = None
    password: Token | None = field(default=None, repr=False)
    ca_file: Path | None = None  # replaces the machine's authorities

    def __post_init__(self) -> None:
        if not (_is_ip(self.host) or _HOST.fullmatch(self.host)):
            raise BadInput(
                f"The mail server {self.host!r:.60} is no host name; "
                "write it like mail.example.org, without a port.",
                field="host",
            )
        if not 0 < self.port <= _MOST_PORT:
            raise BadInput(
                f"The port {self.port} of the mail server is none; 587, 465 and 993 are usual.",
                field="port",
            )
        if self.security is Security.NONE and not _is_near(self.host):
            raise BadInput(
                f"The line to {self.host} must be private: set security to starttls or tls. "
                "None is only for a server on this machine.",
                field="security",
            )
        if (self.user is None) != (self.password is None):
            raise BadInput("A user needs a password, and a password a user.", field="user")
        if self.user is not None and not _FIT.fullmatch(self.user):
            raise BadInput("The user of the mail server has characters no name has.", field="user")


def trust(account: SmtpAccount) -> ssl.SSLContext:
    """Return the TLS context: the server needs a valid certificate for its name."""
    try:
        return ssl.create_default_context(cafile=account.ca_file)
    except (OSError, ssl.SSLError) as error:
        raise BadInput(
            f"The file {account.ca_file} holds no certificate of an authority. Name one that does.",
            field="ca_file",
        ) from error


def is_password(text: str) -> bool:
    """Whether a text can be a password at all."""
    return _FIT.fullmatch(text) is not None


def distrust(error: BaseException | None) -> str | None:
    """Return what was wrong with a certificate, if that broke the connection."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return str(error.verify_message or "it cannot be checked").rstrip(". ")
        error = error.__cause__ or error.__context__
    return None


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return "%" not in host


def _is_near(host: str) -> bool:
    return host == "localhost" or (_is_ip(host) and ipaddress.ip_address(host).is_loopback)
