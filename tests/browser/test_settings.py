"""The settings page, in a real browser: channels tried, contacts kept, tokens made and revoked."""

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import expect

from remit.settings import load
from remit.store.secrets import Secrets
from tests.browser.conftest import Visit
from tests.browser.site import Site

SECTIONS: Final = (
    "you",
    "brain",
    "channels",
    "inbound",
    "calendars",
    "contacts",
    "policies",
    "priority",
    "projects",
    "notices",
    "tokens",
    "about",
)
SETTINGS: Final = """\
[deliver]
quiet = "22:00-07:00"

[tools]
write_file = "ask"

[channels.alarm]
kind = "webhook"
url = "http://127.0.0.1:{port}/in"
secret = "alarm_secret"
private = true

[channels.post]
kind = "email"
host = "127.0.0.1"
port = 9
security = "none"
sender = "nina@example.org"
owner = "hanan@example.org"
"""
CONTACTS: Final = """\
# whom I know
- name: Maya
  role: colleague
  channels:
    post: maya@example.org
"""


class _Taker(BaseHTTPRequestHandler):
    """Takes whatever is sent to it."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@pytest.fixture
def taker() -> Iterator[int]:
    """The port of somebody who takes everything."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Taker) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join(100)


@pytest.fixture
def site(tmp_path: Path, taker: int) -> Iterator[Site]:
    (tmp_path / "settings.toml").write_text(SETTINGS.format(port=taker))
    (tmp_path / "contacts.yaml").write_text(CONTACTS)
    Secrets(tmp_path, None).put("alarm_secret", "whsec_Y2FuYXJ5LW9mLXRoZS1ob29rLTRmN2Q5MQ==")
    with Site(tmp_path, settings=load({"REMIT_HOME": str(tmp_path)})) as site:
        yield site


def test_a_channel_is_tried_and_its_page_says_that_it_was_sent(visit: Visit) -> None:
    page = visit("/settings/channels")
    page.get_by_role("button", name="Test Webhook").click()
    trial = page.locator("#trial")
    expect(trial).to_contain_text("Sent")
    page.get_by_role("link", name="The test").click()
    expect(page.get_by_role("heading", name="Test the channel alarm")).to_be_visible()


def test_a_channel_that_cannot_be_reached_says_why(visit: Visit) -> None:
    page = visit("/settings/channels")
    page.get_by_role("button", name="Test Email").click()
    expect(page.locator("#trial")).to_contain_text("could not be reached")


def test_every_channel_says_what_it_promises(visit: Visit) -> None:
    page = visit("/settings/channels")
    expect(page.get_by_text("Exactly once")).to_be_visible()
    expect(page.get_by_text("At least once, under an id that never changes")).to_be_visible()


def test_somebody_is_added_and_the_file_keeps_its_remarks(site: Site, visit: Visit) -> None:
    page = visit("/settings/contacts")
    page.get_by_label("Whole name").fill("Anna Smith")
    page.get_by_label("Also called").fill("Annie, my sister")
    page.get_by_label("Channel").select_option("post")
    page.get_by_label("Address there").fill("anna@example.org")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("anna@example.org", exact=True)).to_be_visible()
    kept = (site.home / "contacts.yaml").read_text()
    assert kept.startswith(CONTACTS)
    assert "my sister" in kept


def test_a_contact_without_an_address_is_refused_and_what_was_typed_stays(visit: Visit) -> None:
    page = visit("/settings/contacts")
    page.get_by_label("Whole name").fill("Anna Smith")
    page.get_by_label("Channel").select_option("post")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_have_text("Give an address.")
    expect(page.get_by_label("Whole name")).to_have_value("Anna Smith")


def test_whom_one_writes_to_unasked_is_said_and_taken_back(site: Site, visit: Visit) -> None:
    page = visit("/settings/contacts")
    page.get_by_label("Maya on post").select_option("allow")
    expect(page.get_by_label("Maya on post")).to_have_value("allow")
    page.goto(f"{site.url}/settings/policies")
    page.get_by_role("button", name=re.compile("Ask again before writing to Maya")).click()
    expect(page.get_by_text("Asks first")).to_be_visible()
    page.goto(f"{site.url}/settings/contacts")
    expect(page.get_by_label("Maya on post")).to_have_value("ask")


def test_somebody_is_taken_out_of_the_book(site: Site, visit: Visit) -> None:
    page = visit("/settings/contacts")
    page.get_by_role("button", name="Remove Maya").click()
    expect(page.get_by_text("Nobody yet.")).to_be_visible()
    assert "Maya" not in (site.home / "contacts.yaml").read_text()


def test_a_token_is_made_shown_once_used_and_revoked(site: Site, visit: Visit) -> None:
    page = visit("/settings/tokens")
    page.get_by_label("Name").fill("home assistant")
    page.get_by_label("write").check()
    page.get_by_role("button", name="Make it").click()
    secret = page.locator("#secret").inner_text()
    assert _asks(site, secret) == 200
    page.goto(f"{site.url}/settings/tokens")
    expect(page.locator("#secret")).to_have_count(0)
    assert secret not in page.content()
    page.get_by_role("button", name="Revoke home assistant").click()
    expect(page.get_by_role("button", name="Revoke home assistant")).to_have_count(0)
    assert _asks(site, secret) == 401


def _asks(site: Site, secret: str) -> int:
    headers = {"Authorization": f"Bearer {secret}"}
    site.client.cookies.clear()
    return site.client.get(f"{site.url}/api/tasks", headers=headers).status_code


def test_what_the_file_rules_is_shown_and_names_its_place(visit: Visit) -> None:
    page = visit("/settings/policies")
    rules = page.get_by_role("region", name="When and how often")
    expect(rules.get_by_label("Quiet hours")).to_have_value("22:00-07:00")
    tools = page.get_by_role("region", name="What the brain may use")
    expect(tools.get_by_text("[tools]").first).to_be_visible()
    assert tools.locator("input, select, button").count() == 0


def test_the_look_is_chosen_and_kept(site: Site, visit: Visit) -> None:
    page = visit("/settings/notices")
    page.get_by_label("Dark").check()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.goto(f"{site.url}/settings/about")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_single_keys_can_be_turned_off(site: Site, visit: Visit) -> None:
    page = visit("/settings/notices")
    page.get_by_label("Off", exact=True).check()
    page.goto(f"{site.url}/settings/about")
    page.keyboard.press("?")
    expect(page.locator("#all-keys")).not_to_be_visible()


def test_no_secret_and_no_path_of_this_machine_is_on_any_page(site: Site, visit: Visit) -> None:
    page = visit("/settings/brain")
    for section in SECTIONS:
        page.goto(f"{site.url}/settings/{section}")
        assert "whsec_" not in page.content()
        assert str(site.home) not in page.content()
