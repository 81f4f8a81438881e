"""Sign in at a provider from the settings page, in a real browser; and who tries to get between."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Request, expect

from remit.channels.oauth.tokens import StoredSignIn, parse_sign_in
from remit.settings import load
from remit.store.secrets import Secrets
from tests.browser.conftest import Visit
from tests.browser.site import Site, barriers
from tests.channels.oauth.identity_server import CLIENT, SECRET, USER, query
from tests.channels.oauth.sign_in_town import SignInTown

SETTINGS: Final = """\
[channels.gmail]
kind = "email"
host = "127.0.0.1"
port = 9
security = "none"
user = "{user}"
sender = "{user}"
owner = "{user}"
[channels.gmail.oauth]
provider = "google"
client_id = "{client}"
client_secret = "gmail_client_secret"
token = "gmail_oauth"
authorize_url = "{root}/authorize"
token_url = "{root}/token"
"""
NOT_OURS: Final = "This is not the sign-in that Remit waits for. Begin again."


class SignInSite(Site):
    """The browser leaves for the provider, and comes back to the number of this machine."""

    def _request(self, request: Request) -> None:
        if not request.url.startswith("http://127.0.0.1:"):
            super()._request(request)


@pytest.fixture
def town(tmp_path: Path) -> Iterator[SignInTown]:
    with SignInTown(tmp_path) as town:
        yield town


@pytest.fixture
def site(tmp_path: Path, town: SignInTown) -> Iterator[Site]:
    home = tmp_path / "home"
    home.mkdir()
    said = SETTINGS.format(user=USER, client=CLIENT, root=town.provider.root)
    (home / "settings.toml").write_text(said)
    Secrets(home).put("gmail_client_secret", SECRET)
    with SignInSite(home, settings=load({"REMIT_HOME": str(home)})) as site:
        yield site


def begin(visit: Visit) -> Page:
    page = visit("/settings/channels")
    page.get_by_role("button", name="Sign in for gmail").click()
    expect(page.get_by_role("link", name="Go to Google")).to_be_visible()
    return page


def came_back(page: Page) -> Page:
    page.get_by_role("link", name="Go to Google").click()
    expect(page.get_by_role("button", name="Finish")).to_be_visible()
    return page


def stored(site: Site) -> StoredSignIn | None:
    kept = Secrets(site.home)
    return parse_sign_in(kept.get("gmail_oauth")) if "gmail_oauth" in kept.names() else None


def test_the_owner_signs_in_and_the_channel_is_ready(
    site: Site, town: SignInTown, visit: Visit
) -> None:
    page = visit("/settings/channels")
    expect(page.get_by_text("is not connected with google yet")).to_be_visible()
    page = came_back(begin(visit))
    assert stored(site) is None, "a redirect alone connects nothing"
    assert barriers(page) == []
    page.get_by_role("button", name="Finish").click()
    expect(page.locator("#way-gmail")).to_contain_text("Ready")
    found = stored(site)
    assert found is not None
    assert found.access in town.provider.access
    referers = [each for each in town.provider.headers if "referer" in each]
    assert referers == [], "the provider is not told where the owner came from"
    redirect = urlsplit(town.provider.asks("/authorize")[0]["redirect_uri"])
    assert (redirect.hostname, redirect.port) == ("127.0.0.1", site.port)


def test_what_somebody_else_began_or_replays_connects_nothing(
    site: Site, town: SignInTown, visit: Visit
) -> None:
    mine, theirs = begin(visit), begin(visit)  # two browsers, each signed in
    link = str(theirs.get_by_role("link", name="Go to Google").get_attribute("href"))
    mine.goto(link)  # the owner is led into a sign-in that another session began
    mine.get_by_role("button", name="Finish").click()
    expect(mine.get_by_role("alert")).to_have_text(NOT_OURS)
    forged = f"{site.url}/settings/connect?state={'x' * 64}&code=4/stolen"
    mine.goto(forged)
    mine.get_by_role("button", name="Finish").click()
    expect(mine.get_by_role("alert")).to_have_text(NOT_OURS)
    assert stored(site) is None
    came_back(theirs)
    address = theirs.url
    theirs.get_by_role("button", name="Finish").click()
    expect(theirs.locator("#way-gmail")).to_contain_text("Ready")
    first = stored(site)
    theirs.goto(address)
    theirs.get_by_role("button", name="Finish").click()
    expect(theirs.get_by_role("alert")).to_have_text(NOT_OURS)
    assert stored(site) == first
    assert query(address)["state"] not in str(town.provider.headers)


def test_a_hostile_reason_is_not_shown_and_a_decline_is_told(
    site: Site, town: SignInTown, visit: Visit
) -> None:
    town.provider.declines = True
    page = came_back(begin(visit))
    assert "canary" not in page.content() + page.url, "the description is dropped on the way"
    page.get_by_role("button", name="Finish").click()
    expect(page.get_by_role("alert")).to_contain_text("You declined there")
    hostile = f"{site.url}/oauth/callback?state=x&error=%3Cimg%20src=x%20onerror=alert(1)%3E"
    page.goto(hostile)
    page.get_by_role("button", name="Finish").click()
    expect(page.get_by_role("alert")).to_have_text(NOT_OURS)
    assert "onerror" not in page.content()


def test_without_a_sign_in_here_the_redirect_opens_nothing(site: Site, town: SignInTown) -> None:
    answer = site.client.get(f"http://127.0.0.1:{site.port}/oauth/callback?state=x&code=4/c")
    assert answer.status_code == 303
    assert answer.headers["location"].startswith(f"{site.pages}/oauth/callback?")
    second = site.client.get(answer.headers["location"])
    assert "/settings/connect?" in second.text
    third = site.client.get(f"{site.pages}/settings/connect?state=x&code=4/c")
    assert third.headers["location"].startswith("/sign-in")
    assert town.provider.asked == []
