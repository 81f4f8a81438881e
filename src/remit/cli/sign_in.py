"""Sign in at Google or Microsoft from the terminal: `remit channels connect`, and for a new one."""

import asyncio
import webbrowser
from typing import Annotated

from remit import settings as app_settings
from remit.channels.oauth import (
    CALENDAR,
    CALENDAR_ADDRESSES,
    MAIL,
    NewAccount,
    OAuthClient,
    client_of,
    connecting,
    new_account,
    provider_of,
    tokens,
)
from remit.channels.oauth.connecting import LoopbackRedirect
from remit.channels.oauth.tokens import DeviceCode, TokenGrant
from remit.cli import notice_state, out, remit_client, words
from remit.cli.out import AsJson, flag
from remit.cli.tokens import value_of
from remit.cli.up import has_screen
from remit.errors import BadInput, NotFound, Transient
from remit.settings import Settings, sections
from remit.settings.channels import ChannelSettings, OAuthSettings
from remit.settings.sections import told_there
from remit.store.secrets import Secrets, secrets_of
from remit.wiring.app_context import WallClock

Browser = Annotated[
    bool, flag("Sign in with a browser on this machine, not with a code.", "--browser")
]


def connect(
    name: Annotated[str, flag("The channel's name.")],
    /,
    *,
    browser: Browser = False,
    json: AsJson = False,
) -> int:
    """Sign in for a channel, first or again; what waited for it goes on."""
    settings = app_settings.load()
    section, chosen = _find_section(settings, name)
    kept = secrets_of(settings.home)
    client = client_of(chosen, MAIL, kept.find)
    user = str(getattr(section, "user", ""))
    sign_in(client, kept, chosen.token, user, browser=browser)
    with remit_client.open_client(settings) as way:
        released = notice_state.release(settings, way, name)
    more = f"; {words.count(released, 'task')} that waited goes on" if released else ""
    sentence = f"{name} is connected with {client.called}{more}."
    return out.print_result(json, {"channel": name, "released": released}, sentence)


def disconnect(
    name: Annotated[str, flag("The channel's name.")], /, *, json: AsJson = False
) -> int:
    """Take the sign-in of a channel back at the provider, and forget its tokens."""
    settings = app_settings.load()
    _, chosen = _find_section(settings, name)
    kept = secrets_of(settings.home)
    client = client_of(chosen, MAIL, kept.find)
    found = tokens.parse_sign_in(kept.find(chosen.token))
    if found is None:
        raise NotFound("sign-in", f"for {name}")
    try:
        revoked = asyncio.run(tokens.revoke(client, found.refresh))
    except Transient:
        revoked = False
    kept.drop(chosen.token)
    where = f" and at {client.called}" if revoked else f". At {client.called} remove the app too"
    sentence = f"The sign-in of {name} is gone here{where}."
    return out.print_result(json, {"channel": name, "revoked": revoked}, sentence)


def add_mail(
    kind: str, name: str, client_id: str, address: str, *, url: str, browser: bool
) -> None:
    """Sign in for a new mail channel, then write its settings."""
    if not address:
        raise BadInput(f"Give your address at {kind}: --address you@example.org.", field="address")
    _need_client_id(kind, client_id)
    account = new_account(kind, name, user=address, client_id=client_id, oauth_url=url)
    _add(account, browser=browser)


def add_calendar(
    name: str, client_id: str, user: str, url: str, *, trusted: bool, oauth_url: str
) -> None:
    """Sign in for a new calendar account, then write its settings."""
    if name not in CALENDAR_ADDRESSES:
        known = ", ".join(CALENDAR_ADDRESSES)
        sentence = f"Give the server's url, or name one that has its own: {known}."
        raise BadInput(sentence, field="url")
    if not user:
        raise BadInput("Give your address there: --user you@example.org.", field="user")
    _need_client_id(name, client_id)
    account = new_account(
        name, name, user=user, client_id=client_id, url=url, oauth_url=oauth_url, trusted=trusted
    )
    _add(account, browser=True)


def connect_calendar(
    name: Annotated[str, flag("The account's name.")], /, *, json: AsJson = False
) -> int:
    """Sign in for a calendar account again."""
    settings = app_settings.load()
    server = settings.calendars.get(name)
    if server is None or server.oauth is None:
        raise BadInput(f"{name!r:.60} is no account that you sign in for with OAuth.", field="name")
    kept = secrets_of(settings.home)
    client = client_of(server.oauth, CALENDAR, kept.find)
    sign_in(client, kept, server.oauth.token, server.user, browser=True)
    return out.print_result(json, {"account": name}, f"{name} is connected with {client.called}.")


def sign_in(client: OAuthClient, kept: Secrets, name: str, user: str, *, browser: bool) -> None:
    """Have the owner sign in, and store the tokens under a name."""
    by_code = client.provider.device_url and not browser
    found = (
        connecting.sign_in_by_device(client, _show_code)
        if by_code
        else _sign_in_by_browser(client, user)
    )
    tokens.store_grant(kept, name, asyncio.run(found), WallClock().now())


async def _sign_in_by_browser(client: OAuthClient, user: str) -> TokenGrant:
    async with LoopbackRedirect(client) as here:
        now = WallClock().now()
        attempt = connecting.begin(client, "", here.address, user=user, key="", now=now)
        out.say(f"Sign in at {client.called}, in a browser on this machine:")
        out.say(attempt.url)
        # In a thread: some browsers are waited for.
        shown = (
            asyncio.to_thread(webbrowser.open, attempt.url) if has_screen() else asyncio.sleep(0)
        )
        parameters, _ = await asyncio.gather(here.wait(attempt), shown)
    return await connecting.finish(attempt, parameters)


def _show_code(code: DeviceCode) -> None:
    out.say(f"Open {code.address} in any browser, and type in this code:")
    out.say(code.user_code)


def _find_section(settings: Settings, name: str) -> tuple[ChannelSettings, OAuthSettings]:
    section = settings.channels.get(name)
    if section is None or section.sign_in is None:
        able = ", ".join(each for each, of in settings.channels.items() if of.sign_in) or "none yet"
        sentence = f"{name!r:.60} is no channel that you sign in for; these are: {able}."
        raise BadInput(sentence, field="name")
    return section, section.sign_in


def _need_client_id(kind: str, client_id: str) -> None:
    if not client_id:
        sentence = f"Give the id of your own app at {provider_of(kind).called}: --client-id ID."
        raise BadInput(f"{sentence} docs/howto/email.md says how to get one.", field="client_id")


def _add(account: NewAccount, *, browser: bool) -> None:
    """Check what would be written, ask for the client secret, sign in; then store and write."""
    settings, chosen = app_settings.load(), account.oauth
    remit_client.furnish(settings)
    path = settings.home / "settings.toml"
    written = account.tables | told_there(settings, account.section)
    sections.with_values(path.read_text(encoding="utf-8"), written, path)
    secret = value_of(chosen.client_secret) if chosen.client_secret else ""
    kept = secrets_of(settings.home)
    client = client_of(chosen, account.use, lambda _: secret)
    sign_in(client, kept, chosen.token, account.user, browser=browser)
    if secret:
        kept.put(chosen.client_secret, secret)
    sections.set_values(path, written)
