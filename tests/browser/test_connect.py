"""Telegram, mail and calendars are connected on the pages: a real `remit up`, a real browser."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from remit.store.secrets import Secrets
from tests.browser.desk import Desk
from tests.browser.site import barriers
from tests.calendar.caldav_servers import Server
from tests.channels.oauth.identity_server import CLIENT, SECRET, USER
from tests.channels.oauth.sign_in_town import SignInTown
from tests.channels.oauth.test_oauth_calendar import TokenCheck, make_agenda
from tests.channels.telegram.bot_server import NAME, TOKEN
from tests.channels.telegram.chat_town import Town


@pytest.fixture
def town() -> Iterator[Town]:
    with Town() as town:
        yield town


def _add_bot(desk: Desk, town: Town) -> None:
    page = desk.go("/settings/edit?section=channels&kind=telegram")
    page.get_by_label("Name").fill("telegram")
    desk.fill(Token="1:wrong", Address=town.bot.root)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("oken")
    desk.fill(Token=TOKEN)
    desk.save()
    assert tomllib.loads(desk.file)["channels"]["telegram"]["bot"] == NAME


def _guess_until_the_code_ends(page: Page, town: Town) -> None:
    page.get_by_role("button", name="Show a code").click()
    expect(page.locator("#pairing")).to_contain_text("Waiting for the code")
    for n in range(10):
        town.bot.write(f"/start WRONGCODE{n}")
    expect(page.locator("#pairing")).to_contain_text("The code has ended")
    page.get_by_role("link", name="Make another").click()
    expect(page.get_by_role("button", name="Show a code")).to_be_visible()


def test_a_telegram_chat_is_paired_on_the_page_that_shows_the_code(desk: Desk, town: Town) -> None:
    _add_bot(desk, town)
    _guess_until_the_code_ends(desk.page, town)
    page = desk.go("/settings/channels")
    expect(page.locator("#way-telegram")).to_contain_text("No chat is connected with you yet")
    page.get_by_role("button", name="Connect your chat").click()
    code = page.locator("#code").inner_text()
    link = page.get_by_role("link", name="Open the chat").get_attribute("href")
    assert link == f"https://t.me/{NAME}?start={code}"
    assert barriers(page) == []
    town.bot.write(f"/start {code}")
    town.sent("This chat is yours")
    expect(page.locator("#pairing")).to_contain_text("Connected")
    page.get_by_role("link", name="Test or change").click()
    page.get_by_role("button", name="Test telegram").click()
    expect(page.locator("#trial")).to_contain_text("Sent")
    town.sent("Test message")
    desk.go("/settings/channels")
    expect(page.locator("#way-telegram")).to_contain_text("Ready")


def _sign_in(page: Page, town: SignInTown, kind: str, *, secret: str = SECRET) -> None:
    page.get_by_role("link", name=kind).click()
    page.get_by_label("Your address").fill(USER)
    page.get_by_label("Client id").fill(CLIENT)
    if secret:
        page.get_by_label("Client secret").fill(secret)
    page.get_by_text("Another address to sign in at").click()
    page.get_by_label("Address", exact=False).last.fill(town.provider.root)
    page.get_by_role("button", name="Sign in at").click()
    page.get_by_role("link", name="Go to").click()
    page.get_by_role("button", name="Finish").click()


def test_gmail_is_added_and_signed_in_for_without_a_terminal(desk: Desk, tmp_path: Path) -> None:
    with SignInTown(tmp_path) as town:
        page = desk.go("/settings/channels")
        before = desk.file
        town.provider.declines = True
        _sign_in(page, town, "Gmail")
        expect(page.get_by_role("alert")).to_contain_text("You declined there")
        assert desk.file == before
        assert Secrets(desk.terminal.home).names() == ()

        town.provider.declines = False
        desk.go("/settings/channels")
        _sign_in(page, town, "Gmail")
        assert desk.next_event() == "restarted"
        desk.go("/settings/channels")
        expect(page.locator("#way-gmail")).to_contain_text("Ready")
        told = tomllib.loads(desk.file)
        assert told["channels"]["gmail"]["imap_host"] == "imap.gmail.com"
        assert told["channels"]["gmail"]["oauth"]["client_id"] == CLIENT
        assert "gmail" in told["notices"]["question"]
        assert SECRET not in desk.file + page.content()

        page.get_by_role("link", name="Change gmail").click()
        page.get_by_role("button", name="Remove gmail").click()
        assert desk.next_event() == "restarted"
        assert "gmail" not in desk.file
        assert Secrets(desk.terminal.home).names() == ()


def test_a_google_calendar_is_added_tested_lost_and_signed_in_for_again(  # noqa: PLR0915
    desk: Desk, tmp_path: Path
) -> None:
    radicale = Server("radicale", tmp_path / "dav")
    radicale.start()
    try:
        with (
            SignInTown(tmp_path) as town,
            town.opened(TokenCheck(town.provider, radicale.port)) as check,
        ):
            town.do(make_agenda(radicale))
            page = desk.go("/settings/calendars")
            _sign_in(page, town, "Google Calendar")
            expect(page.get_by_role("link", name="Change google")).to_be_visible()
            page = desk.go("/settings/edit?section=calendars.google")
            desk.fill(Address=f"{check.root}/owner/", Calendars="Agenda")
            page.get_by_role("button", name="Save").click()
            expect(page.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
            page.get_by_role("button", name="Test google").click()
            expect(page.locator("#tested")).to_contain_text("Calendars: Agenda")

            town.revoke()
            page.get_by_role("button", name="Test google").click()
            expect(page.locator("#tested.bad")).to_be_visible()
            page = desk.go("/settings/calendars")
            page.get_by_role("button", name="Sign in for google").click()
            page.get_by_role("link", name="Go to Google").click()
            page.get_by_role("button", name="Finish").click()
            page.get_by_role("button", name="Test google").click()
            expect(page.locator("#tested")).to_contain_text("Calendars: Agenda")
    finally:
        radicale.stop()
