"""Files go along with what one says in a chat or hands over, with and without scripts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

import pytest
from playwright.sync_api import FilePayload, Page, expect

from remit.settings import Settings
from tests.browser.conftest import Visit
from tests.browser.site import Site, barriers

NOTES: Final = FilePayload(name='größe "a".txt', mimeType="text/plain", buffer=b"a\r\n--b\r\n\0")
NAME: Final = "größe _a_.txt"  # what a name may hold


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    settings = Settings(home=tmp_path, agent="Nina", owner="Hanan", zone="UTC")
    with Site(tmp_path, settings=settings) as site:
        yield site


def _begun(site: Site) -> str:
    return f"/conversations/{site.post('/api/conversations', {})['id']}"


def _assert_task_has_it(site: Site, page: Page, link: str) -> None:
    page.goto(f"{site.url}{link}")
    with page.expect_download() as saved:
        page.get_by_role("link", name=NAME).click()
    assert Path(saved.value.path()).read_bytes() == NOTES["buffer"]


def test_a_question_about_an_attached_file_becomes_a_task_that_has_it(
    site: Site, visit: Visit
) -> None:
    page = visit(_begun(site))
    page.get_by_label("Attach files").set_input_files(NOTES)
    line = page.locator(".composer .attach li")
    expect(line).to_contain_text(NAME)
    assert barriers(page) == []
    page.get_by_label("Message Nina").fill("What does this file say?")
    page.keyboard.press("Enter")
    expect(page.locator(".turn[data-answers]")).to_have_count(1)
    expect(line).to_have_count(0)
    expect(page.locator(".turn").first.locator(".chip")).to_have_text(NAME)
    card = page.get_by_role("article", name="Task: What does this file say?").first
    link = card.get_by_role("link").first.get_attribute("href")
    _assert_task_has_it(site, page, str(link))
    (talk,) = _listed(site, "/api/conversations?limit=1", "conversations")
    said, *_ = _listed(site, f"/api/conversations/{talk['id']}", "turns")
    assert [each["name"] for each in cast("list[dict[str, str]]", said["attachments"])] == [NAME]


def _listed(site: Site, path: str, name: str) -> list[dict[str, object]]:
    return cast("list[dict[str, object]]", site.get(path)[name])


def test_without_scripts_a_form_carries_the_files_itself(site: Site, visit: Visit) -> None:
    page = visit("/new", plain=True)
    page.locator("#words").fill("Look around")
    page.locator("form.handover [type=file]").set_input_files([NOTES])
    page.get_by_role("button", name="Hand over").click()
    link = page.get_by_role("link", name="Look around").get_attribute("href")
    _assert_task_has_it(site, page, str(link))

    page.goto(f"{site.url}/conversations")
    page.get_by_label("Message Nina").fill("Look around once more")
    page.get_by_label("Attach files").set_input_files(NOTES)
    page.get_by_role("button", name="Send message").click()
    expect(page.locator(".turn .chip").first).to_have_text(NAME)
    card = page.get_by_role("article", name="Task: Look around once more").first
    link = card.get_by_role("link").first.get_attribute("href")
    _assert_task_has_it(site, page, str(link))
    page.goto(f"{site.url}/new")
    page.locator("#words").fill("Look around without a file")
    page.get_by_role("button", name="Hand over").click()
    expect(page.get_by_role("link", name="Look around without a file")).to_be_visible()
