"""The settings page, in a real browser: channels tried, contacts kept, tokens made and revoked."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import expect

from remit.store.secrets import Secrets
from tests.browser.conftest import Visit
from tests.browser.site import MAIL_CHANNEL, Site, settings_in

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
SETTINGS: Final = f"""\
[deliver]
quiet = "22:00-07:00"

[tools]
write_file = "ask"

[channels.alarm]
kind = "webhook"
url = "{{url}}/in"
secret = "alarm_secret"
private = true
{MAIL_CHANNEL}"""
CONTACTS: Final = """\
# whom I know
- name: Maya
  role: colleague
  channels:
    post: maya@example.org
"""


@pytest.fixture
def site(tmp_path: Path, outside: str) -> Iterator[Site]:
    settings = settings_in(tmp_path, SETTINGS.format(url=outside), CONTACTS)
    Secrets(tmp_path, None).put("alarm_secret", "whsec_Y2FuYXJ5LW9mLXRoZS1ob29rLTRmN2Q5MQ==")
    with Site(tmp_path, settings=settings) as site:
        yield site


def test_a_channel_is_tried_and_its_page_says_what_came_of_it(visit: Visit) -> None:
    page = visit("/settings/channels")
    page.get_by_role("button", name="Test Email").click()
    expect(page.locator("#trial")).to_contain_text("could not be reached")
    page.get_by_role("button", name="Test Webhook").click()
    expect(page.locator("#trial")).to_contain_text("Sent")
    page.get_by_role("link", name="The test").click()
    expect(page.get_by_role("heading", name="Test the channel alarm")).to_be_visible()


def test_people_come_and_go_and_the_file_keeps_its_remarks(site: Site, visit: Visit) -> None:
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
    page.get_by_role("button", name="Remove Maya").click()
    expect(page.get_by_role("button", name="Remove Maya")).to_have_count(0)
    assert "Maya" not in (site.home / "contacts.yaml").read_text()


def test_whom_one_writes_to_unasked_is_said_and_taken_back(site: Site, visit: Visit) -> None:
    page = visit("/settings/contacts")
    page.get_by_label("Maya on post").select_option("allow")
    expect(page.get_by_label("Maya on post")).to_have_value("allow")
    page.goto(f"{site.url}/settings/policies")
    page.get_by_role("button", name=re.compile("Ask again before writing to Maya")).click()
    expect(page.get_by_text("Asks first")).to_be_visible()
    page.goto(f"{site.url}/settings/contacts")
    expect(page.get_by_label("Maya on post")).to_have_value("ask")


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


def test_the_look_is_chosen_and_single_keys_are_turned_off(site: Site, visit: Visit) -> None:
    page = visit("/settings/notices")
    page.get_by_label("Dark").check()
    page.get_by_label("Off", exact=True).check()
    page.goto(f"{site.url}/settings/about")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.keyboard.press("?")
    expect(page.locator("#all-keys")).not_to_be_visible()


def test_no_secret_and_no_path_of_this_machine_is_on_any_page(site: Site) -> None:
    for section in SECTIONS:
        page = site.look(f"/settings/{section}")
        assert page.status_code == 200
        assert "whsec_" not in page.text
        assert str(site.home) not in page.text
