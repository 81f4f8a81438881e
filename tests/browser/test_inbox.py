"""The inbox in a real browser: what was seen is what is decided, what was typed is what goes."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from remit.brain.scripted import parse
from remit.model.codec import Json
from remit.model.review import Review
from remit.store.secrets import Secrets
from tests.browser.conftest import Visit, one_look
from tests.browser.site import Site, barriers, settings_in
from tests.channels.whatsapp.whatsapp import PERSON, Message, Provider, call, messages, tell
from tests.live.channel_app import KEPT, NAME, WHATSAPP
from tests.live.loopback import ServerThread

DRAFT: Final = "*Bangkok with children*\n\n1. KidZania. Opens 10:00.\n2. Lumphini Park & lake."
SCRIPT: Final[list[Json]] = [
    {"when": "visa", "ask": "Single or multiple entry?", "times": 1},
    {"reply": f"I looked around.\n<deliverable>{DRAFT}</deliverable>"},
]
CONTACTS: Final = f"""\
- name: Anna
  channels:
    {NAME}: "{PERSON}"
"""


class Emulator(ServerThread):
    """WhatsApp on loopback, in a thread of its own: it is there before the app is."""

    provider: Provider

    async def open(self) -> None:
        self.provider = await self.entered(Provider())

    @property
    def accepted(self) -> list[Message]:
        return self.provider.accepted


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    with Emulator() as emulator:
        yield emulator


@pytest.fixture
def site(tmp_path: Path, emulator: Emulator) -> Iterator[Site]:
    told = 'agent = "Nina"\nzone = "UTC"\n' + WHATSAPP.format(url=emulator.provider.url)
    settings = settings_in(tmp_path, told, CONTACTS)
    for name, value in KEPT.items():
        Secrets(tmp_path).put(name, value)
    with Site(tmp_path, settings=settings, brain=parse(SCRIPT)) as site:
        said = {"from": PERSON, "id": "wamid.in.1", "type": "text", "text": {"body": "Hello"}}
        stamp = str(int(site.clock.now().timestamp()))
        body = call(messages({**said, "timestamp": stamp}))
        assert site.do(tell(f"http://127.0.0.1:{site.port}/hooks/whatsapp/{NAME}", body)) == 200
        yield site


def _letter(site: Site, title: str = "Kid-friendly Bangkok") -> str:
    """A letter to Anna that waits for a yes; the review's id."""
    delivery: list[Json] = [{"channel": NAME, "recipient": "Anna"}]
    task = site.post("/api/tasks", {"title": title, "delivery": delivery})["id"]
    site.settle()
    (review,) = [each for each in _open(site) if each.task_id == task]
    return str(review.id)


def _open(site: Site) -> list[Review]:
    return site.do(site.app.inbox.waiting())


def _pass(site: Site, span: timedelta) -> None:
    async def advance() -> None:
        site.clock.advance(span)

    site.do(advance())
    site.settle()


def _texts(emulator: Emulator) -> list[str]:
    return [message.text for message in emulator.accepted]


def _edit(page: Page, text: str) -> None:
    """Type, and wait until the server has drawn how it would arrive."""
    with page.expect_response(lambda answer: answer.url.endswith("/preview")):
        page.locator("#draft").fill(text)


def test_a_letter_is_approved_with_two_keys_and_arrives_as_it_was_shown(
    site: Site, visit: Visit, emulator: Emulator
) -> None:
    review = _letter(site)
    page = visit(f"/inbox/{review}")
    expect(page.locator("#draft")).to_have_value(DRAFT)
    expect(page.locator(".bubble b")).to_have_text("Bangkok with children")
    for key in ("a", "y", "Enter", "Space"):  # a bare key approves nothing
        page.keyboard.press(key)
    assert page.url.endswith(review)
    assert [each.id for each in _open(site)] == [review]
    page.keyboard.press("Control+Enter")
    expect(page.locator(".toast")).to_contain_text("Sending to Anna")
    _pass(site, timedelta(seconds=11))
    assert _texts(emulator) == [DRAFT]


def test_what_the_owner_writes_arrives_as_he_wrote_it_whatever_its_marks(
    site: Site, visit: Visit, emulator: Emulator
) -> None:
    wrote = "# Plan\n\n- one\n- [two](https://example.org)"
    page = visit(f"/inbox/{_letter(site)}")
    _edit(page, wrote)
    expect(page.locator("#remarks")).to_contain_text("Markdown as typed")
    shown = page.locator(".bubble").evaluate("(bubble) => bubble.innerText")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/inbox?done=*")
    _pass(site, timedelta(seconds=11))
    assert _texts(emulator) == [wrote]
    assert shown.startswith(wrote)


def test_an_edit_survives_a_reload_is_taken_back_and_forgotten_once_it_is_sent(
    site: Site, visit: Visit
) -> None:
    review = _letter(site)
    page = visit(f"/inbox/{review}")
    _edit(page, "Something else")
    page.get_by_role("button", name="Restore draft").click()
    expect(page.locator("#draft")).to_have_value(DRAFT)
    expect(page.locator("[data-restore]")).to_be_hidden()
    _edit(page, "Half a thought")
    page.reload()
    expect(page.locator("#draft")).to_have_value("Half a thought")
    expect(page.locator("[data-restore]")).to_be_visible()
    kept = "() => Object.keys(localStorage).filter((key) => key.startsWith('draft:'))"
    assert len(page.evaluate(kept)) == 1
    page.get_by_role("button", name="Approve and send").click()
    page.wait_for_url("**/inbox?done=*")
    page.wait_for_function(f"({kept})().length === 0")


def test_a_letter_that_would_be_held_says_so_while_it_is_typed(site: Site, visit: Visit) -> None:
    page = visit(f"/inbox/{_letter(site)}")
    _edit(page, "NONE")
    expect(page.locator("#remarks")).to_contain_text("Would be held")
    _edit(page, "word " * 1500)
    expect(page.locator("#remarks")).to_contain_text("sent as 2 messages")
    expect(page.locator(".bubble")).to_have_count(2)


def test_what_is_typed_to_send_back_is_never_taken_for_a_yes(
    site: Site, visit: Visit, emulator: Emulator
) -> None:
    review = _letter(site)
    page = visit(f"/inbox/{review}")
    page.keyboard.press("r")
    page.locator("#text-back").fill("Shorter")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/inbox?done=*")
    _pass(site, timedelta(minutes=1))
    assert _texts(emulator) == []
    (again,) = _open(site)
    assert site.stored(again.task_id).notes == ("Shorter",)


def test_one_yes_to_a_card_sends_every_text_that_it_shows(
    site: Site, visit: Visit, emulator: Emulator
) -> None:
    text = 'Send Anna "Good morning" on WhatsApp, not before 9. Send Anna "Good night" on WhatsApp.'
    site.post("/api/messages", {"text": text})
    (card,) = _open(site)
    page = visit(f"/inbox/{card.id}")
    for shown in ("Good morning", "Good night", f"Anna ({PERSON})", "You asked to be asked first"):
        expect(page.locator("#detail")).to_contain_text(shown)
    page.keyboard.press("e")
    page.locator("#text-answer").fill("nonsense that is no line")
    page.locator("#act-answer button[type=submit]").click()
    expect(page.locator("#detail")).to_contain_text("is not an answer to this")
    assert _texts(emulator) == []
    page = visit(f"/inbox/{_open(site)[0].id}")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("button", name="Yes, as shown")).to_have_count(0)
    _pass(site, timedelta(hours=13))
    _pass(site, timedelta(minutes=5))  # two messages to one person are sent with a pause
    assert sorted(_texts(emulator)) == ["Good morning", "Good night"]


def test_what_comes_in_appears_without_moving_what_is_under_the_hand(
    site: Site, visit: Visit
) -> None:
    first = _letter(site, "First")
    site.add("Look around")
    site.settle()
    page = visit(f"/inbox/{first}")
    row = page.locator("#heaps a", has_text="Look around")
    row.hover()
    before = row.bounding_box()
    second = _letter(site, "Second")
    expect(page.locator("#more-below")).to_have_text("1 more waits")
    assert row.bounding_box() == before
    page.mouse.move(1000, 20)
    expect(page.locator(f"#row-{second}")).to_be_visible()
    expect(page.locator(f"#row-{first} a")).to_have_attribute("aria-current", "true")


def test_a_quiet_inbox_shows_by_itself_what_comes_in(site: Site, visit: Visit) -> None:
    page = visit("/inbox")
    expect(page.get_by_role("heading", name="Hand over your first task")).to_be_visible()
    _letter(site)
    expect(page.get_by_role("heading", name="Send this to Anna on WhatsApp?")).to_be_visible()


def test_the_list_is_walked_with_j_and_k_and_opened_with_enter(site: Site, visit: Visit) -> None:
    first, second = _letter(site, "First"), _letter(site, "Second")
    page = visit(f"/inbox/{first}")
    page.keyboard.press("j")
    expect(page.locator(f"#row-{second} a")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/inbox/{second}")
    page.keyboard.press("k")
    expect(page.locator(f"#row-{first} a")).to_be_focused()
    page.keyboard.press("Escape")
    page.wait_for_url("**/inbox")


def test_an_approval_is_undone_by_one_key_and_nothing_leaves(
    site: Site, visit: Visit, emulator: Emulator
) -> None:
    review = _letter(site)
    page = visit(f"/inbox/{review}")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/inbox?done=*")  # whole: before that it hears no key
    expect(page.locator(".toast")).to_be_visible()
    page.keyboard.press("z")
    expect(page.locator("#stand")).to_contain_text("You called it back: nothing was sent.")
    expect(page.get_by_role("button", name="Approve and send")).to_be_visible()
    _pass(site, timedelta(minutes=5))
    assert _texts(emulator) == []


@one_look
def test_nothing_stands_in_anybodys_way(
    site: Site, visit: Visit, *, dark: bool, phone: bool
) -> None:
    review = _letter(site)
    site.add("Fill in the visa form")
    site.settle()
    asked = next(str(each.id) for each in _open(site) if each.id != review)
    held = site.post("/api/messages", {"text": 'Maybe send Anna "Hi" and "Ho" on WhatsApp'})
    two = site.post("/api/messages", {"text": "Remind me soon to eat. Remind me soon to run."})
    cards = [str(each["questions"][0]["id"]) for each in (held, two)]
    for path in ("/inbox", *(f"/inbox/{each}" for each in (review, asked, *cards))):
        page = visit(path, dark=dark, phone=phone)
        assert barriers(page) == []
        wide = "() => document.documentElement.scrollWidth <= innerWidth"
        assert page.evaluate(wide), path
