"""A day with Remit in a browser: counts, seen marks, undo, answers, edits, keys, offline."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Final, cast

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from remit.brain.scripted import parse
from remit.model.codec import Json, JsonMap
from tests.browser.conftest import Visit
from tests.browser.site import MAIL_CHANNEL, Site, barriers, settings_in
from tests.ports import free_port

SETTINGS: Final = f"""\
agent = "Nina"
owner = "Hanan"
zone = "Asia/Bangkok"
{MAIL_CHANNEL}"""
CONTACTS: Final = """\
- name: Anna Smith
  aliases: [my sister]
  channels:
    post: anna@example.org
- name: Maya
  channels:
    post: maya@example.org
"""
ANSWER: Final = "<deliverable>You have **two** parks:\n\n- Lumphini\n- Benjakitti</deliverable>"
SCRIPT: Final[list[Json]] = [
    {"when": "expenses", "fail": "permanent"},
    {"when": "how many", "reply": ANSWER},
    {"when": "passport", "ask": "Which passport do you hold?"},
    {"reply": "<deliverable>Swim day is Thursday.</deliverable>"},
]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    settings = settings_in(tmp_path, SETTINGS, CONTACTS)
    with Site(tmp_path, settings=settings, brain=parse(SCRIPT)) as site:
        yield site


def _say(site: Site, text: str) -> JsonMap:
    return site.post("/api/messages", {"text": text})


def _letter(site: Site, title: str = "Swim day") -> str:
    delivery: list[Json] = [{"channel": "post", "recipient": "Anna Smith"}]
    task = site.post("/api/tasks", {"title": title, "delivery": delivery})["id"]
    site.settle()
    open_ = cast("list[JsonMap]", site.get("/api/reviews")["reviews"])
    return next(str(each["id"]) for each in open_ if each["taskId"] == task)


def _number(page: Page) -> str:
    return page.locator("nav.side [data-count=waiting]").first.inner_text().split()[0]


def test_one_number_counts_decisions_and_results_are_marked_one_many_or_all(
    site: Site, visit: Visit
) -> None:
    _letter(site)
    for title in ("First result", "Second result", "Third result", "Fourth result", "My expenses"):
        site.add(title)
    site.settle()
    page = visit("/inbox")
    assert _number(page) == "1"
    heads = page.locator("#heaps .group-h").all_inner_texts()
    assert [each.split()[0] for each in heads] == ["Decide", "Fix", "Look"]
    assert barriers(page) == []
    needs = cast("JsonMap", site.get("/api/inbox")["needs"])
    assert (needs["decisions"], needs["look"], needs["fix"]) == (1, 4, 1)

    other = visit("/tasks")
    expect(other.locator("#stats").get_by_role("link", name="1 needs you")).to_be_visible()
    other.context.close()

    page.locator("#heaps a", has_text="First result").click()
    page.locator("#acts").get_by_role("button", name="Seen").click()
    expect(page.locator("#heaps a", has_text="First result")).to_have_count(0)
    page.get_by_label("Select Second result").check()
    page.get_by_role("button", name="Mark 1 seen").click()
    expect(page.locator("#heaps a", has_text="Second result")).to_have_count(0)
    expect(page.locator("#heaps a", has_text="Third result")).to_have_count(1)
    page.get_by_role("button", name="Mark all seen").click()
    expect(page.locator("#heaps .picks")).to_have_count(0)
    expect(page.locator("#heaps a", has_text="My expenses")).to_have_count(1)  # not a result
    assert _number(page) == "1"


def test_a_decline_is_undone_by_one_key_and_the_letter_waits_again(
    site: Site, visit: Visit
) -> None:
    first, second = _letter(site), _letter(site, "Another day")
    page = visit(f"/inbox/{first}")
    page.keyboard.press("x")
    page.locator("#act-decline button[type=submit]").click()
    page.wait_for_url(f"**/inbox/{second}?done=*")  # the next item is there
    expect(page.locator(".toast")).to_contain_text("Declined.")
    page.keyboard.press("z")
    page.wait_for_url(f"**/inbox/{first}")
    expect(page.get_by_role("button", name="Approve and send")).to_be_visible()
    # Once it is no longer undone, the task ends and nothing was sent.
    page.keyboard.press("x")
    page.locator("#act-decline button[type=submit]").click()
    page.wait_for_url("**?done=*")
    site.clock.advance(timedelta(seconds=11))
    site.settle()
    task = site.get(f"/api/reviews/{first}")["taskId"]
    found = site.stored(str(task))
    assert (found.status, found.delivery[0].status) == ("cancelled", "pending")


def test_a_second_window_that_decided_says_so_and_offers_the_next(site: Site, visit: Visit) -> None:
    first, second = _letter(site), _letter(site, "Another day")
    page, other = visit(f"/inbox/{first}"), visit(f"/inbox/{first}", deaf=True)
    page.keyboard.press("Control+Enter")
    page.wait_for_url(f"**/inbox/{second}?done=*")
    # One that hears nothing learns it when it answers.
    other.keyboard.press("Control+Enter")
    expect(other.get_by_role("alert")).to_contain_text("decided in another window")
    other.get_by_role("link", name="Next").click()
    other.wait_for_url(f"**/inbox/{second}")
    # One that listens learns it at once, and keeps what was typed.
    third = visit(f"/inbox/{second}")
    third.locator("#draft").fill("Mine")
    page.keyboard.press("x")
    page.locator("#act-decline button[type=submit]").click()
    expect(third.locator("#stand")).to_contain_text("You declined")
    expect(third.locator("#acts")).to_be_hidden()
    expect(third.locator("#stand").get_by_role("link", name="Inbox")).to_be_visible()
    expect(third.locator("#draft")).to_have_value("Mine")


def test_answers_are_clicked_and_an_unreadable_one_keeps_the_question(
    site: Site, visit: Visit
) -> None:
    asked = cast("list[JsonMap]", _say(site, "Remind me soon to eat")["questions"])[0]
    page = visit(f"/inbox/{asked['id']}")
    page.locator("#answer").fill("whenever the moon is blue")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#detail")).to_contain_text("Remind me soon to eat")
    expect(page.locator("#detail .ask")).to_contain_text("whenever the moon is blue")
    assert barriers(page) == []
    page.get_by_role("button", name="tomorrow at 9:00").click()
    page.wait_for_url("**?done=*")
    (task,) = cast("list[JsonMap]", site.get("/api/tasks")["tasks"])
    at = datetime.fromisoformat(str(task["scheduledFor"])).astimezone(site.app.zone)
    assert (at.hour, at.minute) == (9, 0)


def test_a_stranger_is_chosen_from_the_contacts_or_added_to_them(site: Site, visit: Visit) -> None:
    asked = cast("list[JsonMap]", _say(site, 'Send Otto "Hello" by email')["questions"])[0]
    page = visit(f"/inbox/{asked['id']}")
    expect(page.get_by_role("button", name="Maya")).to_be_visible()
    page.get_by_text("Add to contacts and use it").click()
    form = page.locator("#new-contact form")
    form.get_by_label("Name").fill("Otto Maier")
    form.get_by_label("Address").fill("nobody at all")
    form.get_by_role("button").click()
    expect(page.get_by_role("alert")).to_contain_text("Write it like anna@example.org")
    expect(form.get_by_label("Name")).to_have_value("Otto Maier")  # open, with what was typed
    form.get_by_label("Address").fill("otto@example.org")
    assert barriers(page) == []
    form.get_by_role("button").click()
    page.wait_for_url("**?done=*")
    assert "otto@example.org" in (site.home / "contacts.yaml").read_text()
    (task,) = cast("list[JsonMap]", site.get("/api/tasks")["tasks"])
    assert site.stored(str(task["id"])).delivery[0].recipient == "Otto Maier"


def test_editing_changes_what_is_sent_and_a_time_that_is_over_is_refused(
    site: Site, visit: Visit
) -> None:
    made = _say(site, "Tomorrow at 9:00 remind me to call mom")
    task = str(cast("list[JsonMap]", made["tasks"])[0]["id"])
    page = visit(f"/tasks/{task}/edit")
    assert barriers(page) == []
    page.get_by_label("Message").fill("Call dad instead")
    page.get_by_label("Channel").select_option("post")
    page.get_by_label("To", exact=False).last.fill("my sister")
    page.get_by_label("Time").evaluate("box => { box.min = ''; box.value = '2020-01-01T09:00'; }")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("is over in Asia/Bangkok")
    expect(page.get_by_label("Message")).to_have_value("Call dad instead")
    page.get_by_label("Time").evaluate("box => { box.min = ''; box.value = '2026-03-07T10:15'; }")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(f"**/tasks/{task}")
    (sent,) = site.stored(task).delivery
    assert (sent.channel, sent.recipient) == ("post", "Anna Smith")
    assert sent.content == "Call dad instead"
    expect(page.get_by_text("Call dad instead").first).to_be_visible()


def test_a_deleted_task_is_brought_back_by_one_key(site: Site, visit: Visit) -> None:
    task = site.add("First result")
    site.settle()
    page = visit(f"/tasks/{task}")
    result, work = page.locator("#h-del"), page.locator("#h-work")
    assert result.bounding_box()["y"] < work.bounding_box()["y"]  # type: ignore[index]
    page.get_by_label("More actions").click()
    page.get_by_role("link", name="Delete").click()
    page.locator("#delete-task").get_by_role("button", name="Delete").click()
    expect(page.locator(".toast")).to_contain_text("Deleted.")
    assert site.stored(task).deleted_at is not None
    page.wait_for_url(re.compile("/tasks$"))  # whole: before that it hears no key
    page.keyboard.press("z")
    page.wait_for_url(f"**/tasks/{task}")
    assert site.stored(task).deleted_at is None


def test_keys_lead_where_they_say_and_the_palette_acts_on_what_is_open(
    site: Site, visit: Visit
) -> None:
    made = _say(site, "Tomorrow at 9:00 remind me to call mom")
    task, letter = str(cast("list[JsonMap]", made["tasks"])[0]["id"]), _letter(site)
    page = visit("/inbox")
    for key, path in (("t", "tasks"), ("s", "schedule"), ("c", "conversations"), ("i", "inbox")):
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(re.compile(f"/{path}$"))
    assert page.evaluate("document.documentElement.dataset.theme") != "dark"
    page.goto(f"{site.url}/inbox/{letter}")
    assert _commands(page)[0] == "Approve and send"  # what Enter would do
    page.goto(f"{site.url}/conversations/{site.post('/api/conversations', {})['id']}")
    assert _commands(page)[0] == "Rename or delete"
    page.goto(f"{site.url}/tasks/{task}")
    assert {"Run now", "Pause", "Cancel", "Edit", "Delete this task"} <= set(_commands(page))
    page.get_by_label("Command or search").fill("pause")
    page.keyboard.press("Enter")
    expect(page.locator("#task-bar").get_by_role("button", name="Resume").first).to_be_visible()


def _commands(page: Page) -> list[str]:
    """Open the palette; return what it offers."""
    page.keyboard.press("Control+k")
    options = page.locator("#palette [role=option]")
    expect(options.first).to_be_visible()
    return [each.split("\n")[0] for each in options.all_inner_texts()]


def test_a_new_task_leaves_the_page_where_it_was_and_is_followed(site: Site, visit: Visit) -> None:
    page = visit("/schedule")
    page.keyboard.press("c")
    dialog = page.locator("#new-task")
    dialog.get_by_role("textbox").fill("thanks")
    dialog.get_by_role("button", name="Hand over").click()
    expect(dialog.get_by_role("alert")).to_contain_text("This is no task.")
    dialog.get_by_role("textbox").fill("Read the newsletter")
    page.keyboard.press("Control+Enter")
    toast = page.locator("#toasts .handed")
    expect(toast).to_contain_text("Read the newsletter")
    expect(toast).to_contain_text("Completed")  # drawn anew when it ended
    assert page.url.endswith("/schedule")
    assert barriers(page) == []
    toast.get_by_role("link", name="Read the newsletter").click()
    page.wait_for_url("**/tasks/task-*")


# Of a box that may be drawn anew just now.
_COLOUR: Final = """() => {
  const box = document.querySelector("#toasts .handed");
  return box && getComputedStyle(box).backgroundColor;
}"""


def test_the_word_about_a_new_task_can_be_read_on_every_page(site: Site, visit: Visit) -> None:
    task = site.add("Read the newsletter")
    site.settle()
    looks = set()
    page = visit("/inbox")
    for path in ("/inbox", f"/tasks/{task}", "/schedule", "/conversations", "/settings/brain"):
        page.goto(f"{site.url}{path}")
        page.keyboard.press("c")
        page.locator("#new-task").get_by_role("textbox").fill(f'Send Otto "Hello {path}" by email')
        page.keyboard.press("Control+Enter")
        toast = page.locator("#toasts .handed")
        expect(toast.get_by_role("link", name="Answer")).to_be_visible()
        looks.add(page.wait_for_function(_COLOUR).json_value())
    assert barriers(page) == []
    assert len(looks) == 1


def test_a_plain_question_opens_a_conversation_and_its_answer_is_drawn_without_tags(
    site: Site, visit: Visit
) -> None:
    site.add("My expenses")  # it fails, and has nothing to do with the talk
    page = visit("/tasks")
    page.keyboard.press("c")
    page.locator("#new-task").get_by_role("textbox").fill("How many parks are there in Bangkok?")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/conversations/*")
    answer = page.locator(".turn.nina .say").last
    expect(answer.locator("strong")).to_have_text("two")
    expect(answer.locator("li")).to_have_text(["Lumphini", "Benjakitti"])
    assert "deliverable" not in page.locator(".turns").inner_text()
    expect(answer).to_be_in_viewport()
    site.settle()
    page.reload()
    expect(page.locator(".turns")).not_to_contain_text("My expenses")
    page.get_by_role("link", name="All conversations").click()
    expect(page.locator(".talk-row", has_text="How many")).to_contain_text("You have two parks:")


def test_a_card_in_a_talk_says_how_often_it_runs_and_asks_its_question_once(
    site: Site, visit: Visit
) -> None:
    page = visit("/conversations")
    for text in ("Every weekday at 9 remind me to stretch", 'Send Otto "Hello" by telegram'):
        page.locator("#say").fill(text)
        page.keyboard.press("Enter")
        page.wait_for_url("**/conversations/conv-*")
        expect(page.locator(".turn.nina .tcard")).to_have_count(1 + text.startswith("Send"))
    cards = page.locator(".tcard")
    expect(cards.first).to_contain_text("Every weekday at 09:00")
    expect(cards.last.locator("code")).to_have_text("remit channels add")
    expect(cards.last).not_to_contain_text("Nobody; it stays here")
    assert page.locator(".turns").inner_text().count("is not set up") == 1


def test_the_source_of_a_task_stays_when_a_talk_mentions_it(site: Site, visit: Visit) -> None:
    task = site.add("Read the newsletter")
    site.settle()
    page = visit(f"/tasks/{task}")
    page.get_by_role("button", name="Ask about this task").click()
    page.wait_for_url("**/conversations/*")
    page.goto(f"{site.url}/tasks/{task}")
    expect(page.get_by_role("button", name="Resume conversation")).to_be_visible()
    source = page.locator("#task-rail dt", has_text="Source").locator("+ dd")
    expect(source).to_have_text("By hand")


def test_on_a_phone_a_card_shows_its_whole_title_and_marks_of_time_stand_apart(
    site: Site, visit: Visit
) -> None:
    task = site.add("Read the newsletter")
    site.settle()
    page = visit("/conversations", phone=True, dark=True)
    page.locator("#say").fill("Check the price of the flight every hour")
    page.locator(".composer button[type=submit]").click()
    title = page.locator(".tcard > header > b")
    expect(title).to_have_text("Check the price of the flight")
    assert title.evaluate("box => box.scrollWidth <= box.clientWidth")
    page.goto(f"{site.url}/tasks/{task}")
    boxes = [each.bounding_box() for each in page.locator(".gantt .axis text:visible").all()]
    edges = [(box["x"], box["x"] + box["width"]) for box in boxes if box]
    assert len(edges) > 1
    assert all(left[1] < right[0] for left, right in pairwise(edges))


def test_nothing_leaves_a_page_without_a_connection(tmp_path: Path, browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    with Site(tmp_path, port=free_port()) as site:
        page.goto(site.link())
        site.add("Look around in Bang Rak")
        site.settle()
        page.goto(site.url + "/inbox")
        expect(page.locator(".ilist .live")).to_contain_text("Live")
    expect(page.locator("html.offline")).to_have_count(1)
    word = "getComputedStyle(document.querySelector('.ilist .live'), '::after').content"
    assert page.evaluate(word) == '"Offline"'
    before = page.url
    page.locator("#acts").get_by_role("button", name="Seen").click()
    expect(page.locator("#toasts")).to_contain_text("No connection. Nothing was sent")
    page.get_by_role("link", name="Schedule").first.click()
    page.keyboard.press("c")
    page.locator("#new-task").get_by_role("textbox").fill("Kept")
    page.locator("#new-task").get_by_role("button", name="Hand over").click()
    expect(page.locator("#new-task").get_by_role("textbox")).to_have_value("Kept")
    assert page.url == before
    context.close()


def test_what_is_typed_without_a_connection_is_drawn_when_it_is_back(
    tmp_path: Path, browser: Browser
) -> None:
    app = {"settings": settings_in(tmp_path, SETTINGS, CONTACTS), "brain": parse(SCRIPT)}
    app["port"] = free_port()
    page = browser.new_context(timezone_id="America/New_York").new_page()
    with Site(tmp_path, **app) as site:
        page.goto(site.link())
        page.goto(f"{site.url}/inbox/{_letter(site)}")
        expect(page.locator(".ilist .live")).to_contain_text("Live")
    utc = int(page.evaluate("new Date().getUTCHours()"))
    banner = page.locator("#offline")  # its time is Bangkok's, not the browser's
    expect(banner).to_contain_text(re.compile(f"at ({(utc + 6) % 24:02}|{(utc + 7) % 24:02}):"))
    page.locator("#draft").fill("Swim day was moved to Friday.")
    expect(page.locator("[data-kept]")).to_contain_text("Kept on this machine")
    with Site(tmp_path, **app):
        expect(banner).to_be_hidden()
        expect(page.locator("#look")).to_contain_text("Friday")
        expect(page.locator("#draft")).to_have_value("Swim day was moved to Friday.")


def test_a_file_goes_along_with_a_new_task(site: Site, visit: Visit) -> None:
    page = visit("/schedule")
    page.keyboard.press("c")
    dialog = page.locator("#new-task")
    content = FilePayload(name="minutes.txt", mimeType="text/plain", buffer=b"The hall is booked.")
    dialog.locator("input[type=file]").set_input_files(content)
    expect(dialog.locator(".attach li")).to_contain_text("minutes.txt")
    dialog.get_by_role("textbox").fill("Look around")
    dialog.get_by_role("button", name="Hand over").click()
    link = page.locator("#toasts .handed").get_by_role("link", name="Look around")
    page.goto(f"{site.url}{link.get_attribute('href')}")
    expect(page.locator("section", has=page.locator("#h-files"))).to_contain_text("minutes.txt")
    with page.expect_download() as saved:
        page.get_by_role("link", name="minutes.txt").click()
    assert Path(saved.value.path()).read_bytes() == b"The hall is booked."
    assert site.wrongs == []
