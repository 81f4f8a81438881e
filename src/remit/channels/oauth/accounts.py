"""New accounts that the owner signs in for: what the settings say of one once that worked.

account = new_account("gmail", "post", user="you@gmail.com", client_id="1234.apps…")
account.tables      # [channels.post] and [channels.post.oauth]
"""

from typing import Final

from msgspec import Struct, structs

from remit.channels.oauth.providers import (
    CALENDAR,
    CALENDAR_ADDRESSES,
    MAIL,
    MAIL_SERVERS,
    PROVIDERS,
    OAuthProvider,
)
from remit.errors import BadInput
from remit.settings.channels import OAuthSettings

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
        """What is written to the settings; addresses that are the provider's own are left out."""
        oauth = {name: value for name, value in structs.asdict(self.oauth).items() if value}
        return {self.section: self.table, f"{self.section}.oauth": oauth}


def provider_of(kind: str) -> OAuthProvider:
    """Where one signs in for `gmail`, `outlook` or the calendars of `google`."""
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
