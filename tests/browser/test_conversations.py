"""Talk in a real browser: work is handed over by talking, and comes back where it was born."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Locator, Page, expect

from remit.model.ids import ConversationId
from remit.settings import Settings
from remit.store import conversations
from tests.browser.conftest import PHONE, Visit
from tests.browser.puppet import Puppet
from tests.browser.site import Site, barriers
from tests.engine.rig import until

PARKS: Final = "I looked around.\n<deliverable>Lumphini Park.</deliverable>"


@pytest.fixture
def puppet() -> Puppet:
    return Puppet()


@pytest.fixture
def site(tmp_path: Path, puppet: Puppet) -> Iterator[Site]:
    settings = Settings(home=tmp_path, agent="Nina", owner="Hanan", zone="UTC")
    with Site(tmp_path, settings=settings, brain=puppet) as site:
        yield site
        site.do(puppet.rest())


def _began(site: Site, *said: str) -> str:
    """A conversation, its path, in which some things were said and answered."""
    talk = str(site.post("/api/conversations", {})["id"])
    for text in said:
        site.post(f"/api/conversations/{talk}/turns", {"text": text})
    return f"/conversations/{talk}"


def _say(page: Page, text: str) -> None:
    """Type it into the box and send it; its answer is there when this returns."""
    answers = page.locator(".turn[data-answers]")
    known = answers.count()
    page.get_by_label("Message Nina").fill(text)
    page.keyboard.press("Enter")
    expect(answers).to_have_count(known + 1)


def _turn(page: Page) -> Locator:
    return page.locator(".turn").last


def _tasks(site: Site) -> int:
    found = site.get("/api/tasks?limit=100")["tasks"]
    assert isinstance(found, list)
    return len(found)


# Work ---------------------------------------------------------------------------------------------


def test_a_task_is_handed_over_by_talking_and_its_card_follows_it_to_the_end(
    site: Site, puppet: Puppet, visit: Visit
) -> None:
    page = visit(_began(site))
    _say(page, "Find two parks in Bangkok")
    card = page.get_by_role("article", name="Task: Find two parks in Bangkok").first
    expect(card.get_by_text("Running")).to_be_visible()
    expect(card.locator(".secs")).to_contain_text("Work")
    expect(card.locator(".secs")).to_contain_text("Delivery")
    expect(page.locator("[data-talk-rail]")).to_contain_text("Find two parks")

    site.do(puppet.answer(PARKS))

    expect(card.get_by_text("Completed")).to_be_visible()
    expect(card.locator("li.ok")).to_have_count(2)  # the work, and the way out
    expect(_turn(page)).to_contain_text("is done")
    expect(page.get_by_text("Lumphini Park.")).to_have_count(1)
    expect(page.locator("[data-talk-rail]")).to_contain_text("Completed")


def test_what_is_spoken_of_again_is_a_line_and_no_second_card(
    site: Site, puppet: Puppet, visit: Visit
) -> None:
    page = visit(_began(site))
    _say(page, "Find two parks in Bangkok")
    _say(page, "What is running?")

    expect(_turn(page).locator(".say")).to_contain_text("At work:")
    expect(_turn(page).locator(".tcard.slim")).to_have_count(1)
    expect(page.locator(".tcard:not(.slim)")).to_have_count(1)
    site.do(puppet.answer(PARKS))
    expect(page.locator(".tcard.slim").get_by_text("Completed").first).to_be_visible()


def test_a_question_that_a_task_asks_is_answered_in_the_talk_and_remembered(
    site: Site, visit: Visit
) -> None:
    page = visit(_began(site))
    _say(page, "Remind me to water the plants")
    card = page.locator(".tcard").first
    expect(card.locator(".asked")).to_contain_text("When is the reminder due?")

    _say(page, "tomorrow at 9:30")

    expect(_turn(page).locator(".say")).to_contain_text("planned for tomorrow 09:30")
    expect(card.get_by_text("Tomorrow 09:30")).to_be_visible()
    expect(page.locator(".facts li")).to_have_text(
        re.compile(r"due\?.*tomorrow at 9:30$", re.DOTALL)
    )
    assert _tasks(site) == 1


def test_a_question_stands_once_where_the_owner_looks(
    site: Site, puppet: Puppet, visit: Visit
) -> None:
    path = _began(site)
    page = visit(path)
    held = page.locator(".turns").get_by_text("The assistant did not mark what to send.")
    whole = page.locator(".tcard:not(.slim)")

    _say(page, "Find two parks in Bangkok")  # its card is in sight, and asks by itself
    site.do(puppet.answer("Lumphini Park."))
    expect(whole.get_by_text("Needs review")).to_be_visible()
    talk = ConversationId(path.rpartition("/")[2])

    async def is_told() -> bool:
        turns = await site.app.db.read(conversations.turns, talk)
        return any("needs you" in turn.content for turn in turns)

    site.do(until(is_told))
    page.reload()
    expect(held).to_have_count(1)
    expect(page.locator(".turn")).to_have_count(2)

    _say(page, "Find two lakes in Bangkok")  # something else was said since: it asks below
    _say(page, "What is running?")
    site.do(puppet.answer("Lake Ratchada."))
    for _ in ("live", "reloaded"):
        expect(_turn(page).locator(".tcard:not(.slim) .asked")).to_be_visible()
        expect(whole).to_have_count(2)
        expect(held).to_have_count(2)
        page.reload()


# From a task --------------------------------------------------------------------------------------


def test_a_conversation_is_resumed_from_its_task_with_one_key(site: Site, visit: Visit) -> None:
    path = _began(site, "Remind me tomorrow at 4pm to call mom")
    page = visit(path)
    page.get_by_role("link", name="Open").first.click()
    page.wait_for_url("**/tasks/task-*")  # whole: before that it hears no key

    page.keyboard.press("o")

    expect(page).to_have_url(site.url + path)


def test_after_a_conversation_was_deleted_a_task_begins_a_new_one(site: Site, visit: Visit) -> None:
    path = _began(site, "Remind me tomorrow at 4pm to call mom")
    page = visit(path)
    task = str(page.get_by_role("link", name="Open").first.get_attribute("href"))
    page.get_by_label("Rename or delete").click()
    page.get_by_role("button", name="Delete this conversation").click()
    expect(page.locator(".talk-row")).to_have_count(0)

    page.goto(site.url + task)
    page.keyboard.press("o")

    expect(page.locator(".marker")).to_contain_text("about “Call mom”")
    assert page.url != site.url + path
    _say(page, "cancel it")
    expect(_turn(page).locator(".say")).to_have_text("“Call mom” is cancelled.")


# The box ------------------------------------------------------------------------------------------


def test_enter_sends_and_shift_enter_breaks_the_line(site: Site, visit: Visit) -> None:
    page = visit(_began(site))
    box = page.get_by_label("Message Nina")
    box.press("Enter")  # nothing is nothing
    box.type("thanks")
    box.press("Shift+Enter")
    box.type("really")
    expect(box).to_have_value("thanks\nreally")
    expect(page.locator(".turn")).to_have_count(0)

    box.press("Enter")

    expect(page.locator(".turn .say").first).to_have_text("thanks\nreally")
    expect(box).to_have_value("")
    expect(page.locator(".turn")).to_have_count(2)


def test_what_was_typed_is_there_after_a_reload_until_it_is_sent(site: Site, visit: Visit) -> None:
    page = visit(_began(site))
    page.get_by_label("Message Nina").fill("what is running?")
    page.reload()
    expect(page.get_by_label("Message Nina")).to_have_value("what is running?")

    page.get_by_label("Message Nina").press("Enter")
    expect(page.locator(".turn")).to_have_count(2)
    page.reload()

    expect(page.locator(".turn")).to_have_count(2)
    expect(page.get_by_label("Message Nina")).to_have_value("")


def test_a_conversation_begins_with_the_first_thing_said_and_is_named_after_it(
    site: Site, visit: Visit
) -> None:
    page = visit("/conversations")
    text = "Remind me tomorrow at 4pm to call mom and dad about the long holiday that we planned"
    page.get_by_label("Message Nina").fill(text)
    page.keyboard.press("Enter")

    expect(page.locator(".turn")).to_have_count(2)
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "Remind me tomorrow at 4pm to call mom and dad…"
    )
    page.goto(f"{site.url}/conversations")
    expect(page.get_by_label("Message Nina")).to_have_value("")


def test_it_works_without_a_script(visit: Visit) -> None:
    page = visit("/conversations", plain=True)
    for said in ("Remind me tomorrow at 4pm to call mom", "cancel it"):
        page.get_by_label("Message Nina").fill(said)
        page.get_by_role("button", name="Send message").click()

    expect(page.locator(".turn .say").last).to_have_text("“Call mom” is cancelled.")
    expect(page.get_by_text("Nina is here")).to_be_hidden()


# Windows ------------------------------------------------------------------------------------------


def test_two_windows_see_the_same(site: Site, visit: Visit) -> None:
    path = _began(site)
    one, two = visit(path), visit(path)
    _say(one, "Remind me tomorrow at 4pm to call mom")
    expect(two.locator(".turn")).to_have_count(2)
    _say(two, "cancel it")

    for page in (one, two):
        expect(page.locator(".turn .say")).to_have_text(
            [
                "Remind me tomorrow at 4pm to call mom",
                "cancel it",
                "“Call mom” is cancelled.",
            ]
        )
        expect(page.locator(".tcard").first.get_by_text("Cancelled")).to_be_visible()


def test_on_a_phone_one_talks_and_finds_settings_and_a_new_task(site: Site, visit: Visit) -> None:
    page = visit(_began(site), phone=True)
    _say(page, "Remind me tomorrow at 4pm to call mom")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert barriers(page) == []

    tabs = page.get_by_role("navigation", name="Main, small")
    expect(tabs.get_by_role("link", name="Settings")).to_be_hidden()
    tabs.get_by_text("More").click()
    assert barriers(page) == []
    tabs.get_by_role("link", name="New task").click()
    expect(page.get_by_role("dialog", name="New task")).to_be_visible()
    page.keyboard.press("Escape")
    if tabs.get_by_role("link", name="Settings").is_hidden():
        tabs.get_by_text("More").click()
    tabs.get_by_role("link", name="Settings").click()

    expect(page).to_have_url(re.compile(r"/settings"))
    expect(tabs.locator("summary.on")).to_have_text("More")
