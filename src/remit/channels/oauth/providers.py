"""The providers that Remit can sign in at: their addresses, the rights asked for, their servers.

All of it is data. The settings may name other addresses, such as those of a company's own server.
"""

from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct, field

from remit.errors import BadInput
from remit.settings.channels import OAuthSettings

MAIL: Final = "mail"
CALENDAR: Final = "calendar"
CALLBACK: Final = "/oauth/callback"  # where a browser comes back to, on any port of this machine
_LOCAL: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_MICROSOFT: Final = "https://login.microsoftonline.com/common/oauth2/v2.0"


class OAuthProvider(Struct, frozen=True, kw_only=True):
    """One provider. Without `device_url` it has no device flow for these rights."""

    called: str
    authorize_url: str
    token_url: str
    device_url: str = ""
    revoke_url: str = ""
    issuer: str = ""  # what `iss` in its redirect must be, if it is there
    redirect_host: str = "127.0.0.1"
    needs_secret: bool = False
    scopes: dict[str, str]  # by use, the fewest that work
    parameters: dict[str, str] = field(default_factory=dict)  # more for the authorization page


class MailServers(Struct, frozen=True, kw_only=True):
    """Where the mail of a provider is sent and read."""

    provider: str
    host: str
    imap_host: str
    port: int = 587
    security: str = "starttls"


PROVIDERS: Final = {
    "google": OAuthProvider(
        called="Google",
        authorize_url="https://accounts.google.com/o/oauth2/v2/auth",
        token_url="https://oauth2.googleapis.com/token",  # noqa: S106 - an address
        revoke_url="https://oauth2.googleapis.com/revoke",
        issuer="https://accounts.google.com",
        needs_secret=True,
        scopes={
            MAIL: "https://mail.google.com/",
            CALENDAR: "https://www.googleapis.com/auth/calendar",
        },
        # Without these Google gives no refresh token at a second sign-in.
        parameters={"access_type": "offline", "prompt": "consent"},
    ),
    "microsoft": OAuthProvider(
        called="Microsoft",
        authorize_url=f"{_MICROSOFT}/authorize",
        token_url=f"{_MICROSOFT}/token",
        device_url=f"{_MICROSOFT}/devicecode",
        redirect_host="localhost",  # for this name alone Microsoft takes any port
        scopes={
            MAIL: "https://outlook.office.com/IMAP.AccessAsUser.All "
            "https://outlook.office.com/SMTP.Send offline_access"
        },
    ),
}
MAIL_SERVERS: Final = {
    "gmail": MailServers(provider="google", host="smtp.gmail.com", imap_host="imap.gmail.com"),
    "outlook": MailServers(
        provider="microsoft", host="smtp.office365.com", imap_host="outlook.office365.com"
    ),
}
CALENDAR_ADDRESSES: Final = {"google": "https://apidata.googleusercontent.com/caldav/v2/{}/user"}


class OAuthClient(Struct, frozen=True, kw_only=True):
    """The owner's client at a provider, for one use. The secret is looked up at each use."""

    provider: OAuthProvider
    client_id: str
    client_secret: Callable[[], str]
    scope: str

    @property
    def called(self) -> str:
        return self.provider.called


def client_of(chosen: OAuthSettings, use: str, get: Callable[[str], str]) -> OAuthClient:
    """The client that the settings describe; `get` looks a secret up, empty if it is missing."""
    if problem := problem_of(chosen, use):
        raise BadInput(f"{problem}.", field="oauth")
    known = PROVIDERS[chosen.provider]
    provider = OAuthProvider(
        called=known.called,
        authorize_url=chosen.authorize_url or known.authorize_url,
        token_url=chosen.token_url or known.token_url,
        device_url=chosen.device_url or known.device_url,
        revoke_url=chosen.revoke_url or known.revoke_url,
        # Another authorization page has another name.
        issuer="" if chosen.authorize_url else known.issuer,
        redirect_host=known.redirect_host,
        needs_secret=known.needs_secret,
        scopes=known.scopes,
        parameters=known.parameters,
    )
    return OAuthClient(
        provider=provider,
        client_id=chosen.client_id,
        client_secret=lambda: get(chosen.client_secret) if chosen.client_secret else "",
        scope=known.scopes[use],
    )


def problem_of(chosen: OAuthSettings, use: str) -> str:
    """What is wrong with an OAuth table; empty if nothing is."""
    able = [name for name, each in PROVIDERS.items() if use in each.scopes]
    if chosen.provider not in able:
        return f"oauth.provider is {chosen.provider!r:.60}; for {use} it may be {', '.join(able)}"
    if not chosen.client_id.strip() or not chosen.client_id.isprintable():
        return "oauth.client_id is empty; copy it from the provider's page for your app"
    if PROVIDERS[chosen.provider].needs_secret and not chosen.client_secret:
        return "oauth.client_secret is missing: the name of the secret that holds the client secret"
    for name in ("authorize_url", "token_url", "device_url", "revoke_url"):
        if not _is_safe(getattr(chosen, name)):
            return f"oauth.{name} must begin with https://, or lead to this machine"
    return ""


def _is_safe(url: str) -> bool:
    """Whether a token may be sent there: over TLS, or to this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    near = parts.scheme == "http" and host in _LOCAL
    return not url or (bool(host) and parts.username is None and (near or parts.scheme == "https"))
