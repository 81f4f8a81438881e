"""Sign-in by OAuth with the owner's own client id: for mail and calendars.

Here: the providers, their addresses, the rights asked for, their servers. They are data, in
providers.toml. The settings may name other addresses, such as those of a company's own server.
`new_account` is what the settings say of an account once the owner has signed in.
"""

from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct, convert, field, structs

from remit.errors import BadInput
from remit.language.files import read_toml
from remit.settings.channels import OAuthSettings

MAIL: Final = "mail"
CALENDAR: Final = "calendar"
CALLBACK: Final = "/oauth/callback"  # where a browser comes back to, on any port of this machine
_ADDRESSES: Final = ("authorize_url", "token_url", "device_url", "revoke_url")
_LOCAL: Final = frozenset({"127.0.0.1", "localhost", "::1"})


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
    """The mail servers of a provider."""

    provider: str
    host: str
    imap_host: str
    port: int = 587
    security: str = "starttls"


class _ProviderFile(Struct, frozen=True):
    providers: dict[str, OAuthProvider]
    mail_servers: dict[str, MailServers]
    calendar_addresses: dict[str, str]  # with {} for the account's name


_FILE: Final = convert(read_toml("providers", "remit.channels.oauth"), _ProviderFile)
PROVIDERS: Final = _FILE.providers
MAIL_SERVERS: Final = _FILE.mail_servers
CALENDAR_ADDRESSES: Final = _FILE.calendar_addresses


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
    changed = {name: each for name in _ADDRESSES if (each := getattr(chosen, name))}
    # Another authorization page has another name.
    issuer = "" if chosen.authorize_url else known.issuer
    provider = structs.replace(known, issuer=issuer, **changed)
    return OAuthClient(
        provider=provider,
        client_id=chosen.client_id,
        client_secret=lambda: get(chosen.client_secret) if chosen.client_secret else "",
        scope=known.scopes[use],
    )


def problem_of(chosen: OAuthSettings, use: str) -> str:
    """Return what is wrong with an OAuth table; empty if nothing is."""
    able = [name for name, each in PROVIDERS.items() if use in each.scopes]
    if chosen.provider not in able:
        return f"oauth.provider is {chosen.provider!r:.60}; for {use} it may be {', '.join(able)}"
    if not chosen.client_id.strip() or not chosen.client_id.isprintable():
        return "oauth.client_id is empty; copy it from the provider's page for your app"
    if PROVIDERS[chosen.provider].needs_secret and not chosen.client_secret:
        return "oauth.client_secret is missing: the name of the secret that holds the client secret"
    for name in _ADDRESSES:
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


KINDS: Final = {
    **dict.fromkeys(MAIL_SERVERS, "channels"),
    **dict.fromkeys(CALENDAR_ADDRESSES, "calendars"),
}


class NewAccount(Struct, frozen=True, kw_only=True):
    """A mail channel or a calendar account that is not in the settings yet."""

    section: str  # `channels.gmail`, or `calendars.google`
    table: dict[str, object]
    oauth: OAuthSettings

    @property
    def use(self) -> str:
        return CALENDAR if self.section.startswith("calendars.") else MAIL

    @property
    def user(self) -> str:
        return str(self.table["user"])

    @property
    def tables(self) -> dict[str, dict[str, object]]:
        """The tables for the settings file, without the provider's own addresses."""
        oauth = {name: value for name, value in structs.asdict(self.oauth).items() if value}
        return {self.section: self.table, f"{self.section}.oauth": oauth}


def provider_of(kind: str) -> OAuthProvider:
    """Return the provider of `gmail`, `outlook` or the calendars of `google`."""
    if kind not in KINDS:
        raise BadInput(f"{kind!r:.40} is no account to sign in for; {', '.join(KINDS)} are.")
    return PROVIDERS[MAIL_SERVERS[kind].provider if kind in MAIL_SERVERS else kind]


def new_account(  # noqa: PLR0913 - each is a field of the form
    kind: str,
    name: str,
    *,
    user: str,
    client_id: str,
    url: str = "",
    oauth_url: str = "",
    trusted: bool = False,
) -> NewAccount:
    """Describe an account; `oauth_url` is where one signs in, if not at the provider's own page."""
    known, table = provider_of(kind), KINDS[kind]
    if not user.strip():
        raise BadInput(
            f"Give your address at {known.called}, such as you@example.org.", field="user"
        )
    prefix = name if table == "channels" else f"{name}_calendar"
    root = oauth_url.strip().rstrip("/")
    oauth = OAuthSettings(
        provider=MAIL_SERVERS[kind].provider if kind in MAIL_SERVERS else kind,
        client_id=client_id.strip(),
        token=f"{prefix}_oauth",
        client_secret=f"{prefix}_client_secret" if known.needs_secret else "",
        authorize_url=f"{root}/authorize" if root else "",
        token_url=f"{root}/token" if root else "",
        device_url=f"{root}/devicecode" if root and known.device_url else "",
        revoke_url=f"{root}/revoke" if root and known.revoke_url else "",
    )
    text = _mail(kind, user.strip()) if table == "channels" else _calendar(kind, user.strip(), url)
    if trusted:
        text["trusted"] = True
    return NewAccount(section=f"{table}.{name}", table=text, oauth=oauth)


def _mail(kind: str, address: str) -> dict[str, object]:
    servers = MAIL_SERVERS[kind]
    return {
        "kind": "email",
        "host": servers.host,
        "port": servers.port,
        "security": servers.security,
        "user": address,
        "sender": address,
        "owner": address,
        "imap_host": servers.imap_host,
    }


def _calendar(kind: str, user: str, url: str) -> dict[str, object]:
    return {"url": url or CALENDAR_ADDRESSES[kind].format(user), "user": user}
