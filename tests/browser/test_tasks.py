"""The list of tasks in a browser: found, held still, acted upon."""

import re
from collections.abc import Iterator
from typing import cast

import pytest
from playwright.sync_api import Page, expect

from remit.model.codec import JsonMap
from tests.browser.conftest import Visit
from tests.browser.crowd import crowd
from tests.browser.site import Site, barriers


@pytest.fixture(autouse=True)
def _calm(site: Site) -> Iterator[None]:
    """What still thinks at the end of a test would keep its app open."""
    yield
    for task in cast("list[JsonMap]", site.get("/api/tasks?status=running")["tasks"]):
        site.patch(str(task["id"]), "cancel")


def rows(page: Page) -> list[str]:
    return page.locator("#rows [data-row] .ti").all_inner_texts()


def pick(page: Page, title: str) -> None:
    page.get_by_label(f"Select {title}", exact=True).check()


# Ten thousand -------------------------------------------------------------------------------------


def test_of_ten_thousand_tasks_a_hundred_are_drawn_and_all_are_searched(
    site: Site, visit: Visit
) -> None:
    crowd(site, 10_000)
    page = visit("/tasks")
    expect(page.locator("#total")).to_have_text("10,000")
    assert len(rows(page)) == 100
    page.get_by_role("link", name="Load more").click()
    expect(page.locator("#rows [data-row]")).to_have_count(200)
    assert rows(page) == [f"Errand {n:05}" for n in range(10_000, 9_800, -1)]
    page.keyboard.press("/")
    page.keyboard.type("00042")
    page.keyboard.press("Enter")
    expect(page.locator("#rows [data-row]")).to_have_count(1)
    assert rows(page) == ["Errand 00042"]


def test_the_address_holds_what_is_shown(site: Site, visit: Visit) -> None:
    crowd(site, 300)
    page = visit("/tasks?q=errand")
    page.get_by_role("link", name=re.compile("^Failed 3$")).click()
    assert rows(page) == ["Errand 00300", "Errand 00200", "Errand 00100"]
    page.locator("#menu-group summary").click()
    page.get_by_role("link", name="Not grouped").click()
    expect(page).to_have_url(re.compile(r"q=status%3Afailed\+errand.*group=none"))
    page.reload()
    assert len(rows(page)) == 3
    expect(page.locator("tr.g")).to_have_count(0)


def test_the_menu_narrows_the_list(site: Site, visit: Visit) -> None:
    crowd(site, 20)
    page = visit("/tasks")
    page.keyboard.press("f")
    page.get_by_label("Source").select_option("email")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#rows [data-row]")).to_have_count(2)
    assert page.get_by_label("Search or filter tasks").input_value() == "source:email"


def test_a_view_is_kept_under_a_name_and_forgotten_again(site: Site, visit: Visit) -> None:
    crowd(site, 200)
    page = visit("/tasks?q=status:failed")
    page.get_by_text("Save view").click()
    page.get_by_label("Name of this view").fill("Went wrong")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("button", name="Delete view")).to_be_visible()
    [kept] = cast("list[JsonMap]", site.get("/api/views")["views"])
    assert (kept["name"], kept["filter"]) == ("Went wrong", "status:failed")
    page.get_by_role("button", name="Delete view").click()
    expect(page.get_by_text("Save view")).to_be_visible()
    assert site.get("/api/views")["views"] == []


# Live ---------------------------------------------------------------------------------------------


def test_a_row_changes_where_it_stands_and_new_ones_wait_behind_the_pill(
    site: Site, visit: Visit
) -> None:
    crowd(site, 3)
    task = site.add("Something slow")
    page = visit("/tasks")
    row = page.locator(f"#row-{task}")
    expect(row).to_contain_text("Running")
    before = rows(page)
    fresh = site.add("Something new and slow")
    expect(page.locator("[data-pill]")).to_contain_text("1 new task")
    site.patch(task, "pause")
    expect(row).to_contain_text("Paused")
    expect(page.locator("#tabs")).to_contain_text("All 5")
    assert rows(page) == before
    page.locator("[data-pill]").click()
    expect(page.locator(f"#row-{fresh}")).to_be_visible()
    expect(page.locator("[data-pill]")).to_be_hidden()


_ALL_DUE = """async () => {
  const live = await import("/static/js/live.js");
  document.querySelectorAll("#rows [data-row]").forEach(live.queue);
}"""


def test_rows_that_are_due_together_come_in_one_answer(site: Site, visit: Visit) -> None:
    crowd(site, 12)
    page = visit("/tasks")
    before, asked = rows(page), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate(_ALL_DUE)
    expect(page.locator("#rows [data-was]")).to_have_count(12)
    [url] = [each for each in asked if "/tasks/rows" in each]
    assert url.count("task-") == 12
    assert rows(page) == before


def test_what_does_not_match_is_no_news_here(site: Site, visit: Visit) -> None:
    crowd(site, 100)
    page = visit("/tasks?q=status:failed")
    site.add("Something slow")
    with page.expect_response(re.compile("/tasks/tabs")):
        site.add("Something else that is slow")
    expect(page.locator("[data-pill]")).to_be_hidden()


def test_what_stands_on_another_page_is_no_news(site: Site, visit: Visit) -> None:
    crowd(site, 150)
    page = visit("/tasks")
    more = page.get_by_role("link", name="Load more").get_attribute("href")
    page.goto(f"{site.url}{more}")
    assert rows(page)[-1] == "Errand 00001"
    with page.expect_response(re.compile("/tasks/tabs")):
        fresh = site.add("Something slow")
    expect(page.locator("[data-pill]")).to_contain_text("1 new task")
    page.locator("[data-pill]").click()
    expect(page.locator(f"#row-{fresh}")).to_be_visible()


def test_hold_freezes_the_list_until_it_is_let_go(site: Site, visit: Visit) -> None:
    task = site.add("Something slow")
    page = visit("/tasks")
    row = page.locator(f"#row-{task}")
    expect(row).to_contain_text("Running")
    page.keyboard.press("Space")
    expect(page.locator("#live")).to_contain_text("Held")
    site.patch(task, "pause")
    other = site.add("Another slow one")
    # A second window has been told; so has this one, by the same socket's news.
    expect(visit("/tasks").locator(f"#row-{task}")).to_contain_text("Paused")
    expect(row).to_contain_text("Running")
    page.keyboard.press("Space")
    expect(row).to_contain_text("Paused")
    expect(page.locator("[data-pill]")).to_contain_text("1 new task")
    assert page.locator(f"#row-{other}").count() == 0


# Many at once -------------------------------------------------------------------------------------


def test_everything_that_matches_is_shown_before_it_is_done(site: Site, visit: Visit) -> None:
    crowd(site, 250)
    page = visit("/tasks?q=source:email")
    pick(page, "Errand 00250")
    page.get_by_label("All 25 that match").check()
    expect(page.locator("[data-picked]")).to_have_text("25 selected")
    assert barriers(page) == []
    page.get_by_role("button", name="Delete").click()
    preview = page.locator("#bulk-preview")
    expect(preview).to_contain_text("Delete 25 tasks?")
    expect(preview).to_contain_text("and 5 more")
    assert barriers(page) == []
    preview.get_by_role("button", name="Delete").click()
    expect(page.locator("#toasts")).to_contain_text("25 tasks deleted.")
    expect(page.get_by_text("No task matches")).to_be_visible()
    page.goto(site.url + "/tasks")
    expect(page.locator("#total")).to_have_text("225")


def test_what_is_refused_is_named_with_its_reason(site: Site, visit: Visit) -> None:
    crowd(site, 2)
    task = site.add("Something slow")
    page = visit("/tasks")
    expect(page.locator(f"#row-{task}")).to_contain_text("Running")
    page.get_by_label("Select every row shown").check()
    page.get_by_role("button", name="Pause").click()
    preview = page.locator("#bulk-preview")
    expect(preview).to_contain_text("Pause 1 task?")
    expect(preview).to_contain_text("2 are left out")
    expect(preview).to_contain_text("It is completed.")
    preview.get_by_role("button", name="Pause").click()
    expect(page.locator("#toasts")).to_contain_text("1 task paused. 2 could not be.")
    expect(page.locator(f"#row-{task}")).to_contain_text("Paused")


def test_rows_are_picked_by_range_and_by_key_and_let_go_by_escape(site: Site, visit: Visit) -> None:
    crowd(site, 6)
    page = visit("/tasks")
    pick(page, "Errand 00006")
    page.get_by_label("Select Errand 00003").click(modifiers=["Shift"])
    expect(page.locator("[data-picked]")).to_have_text("4 selected")
    page.keyboard.press("Escape")
    expect(page.locator("#bulkbar")).to_be_hidden()
    page.locator("h1").click()
    for key in ("j", "j", "Space"):
        page.keyboard.press(key)
    expect(page.get_by_label("Select Errand 00005")).to_be_checked()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/tasks/task-"))


def test_a_picked_row_stays_picked_when_it_is_drawn_anew(site: Site, visit: Visit) -> None:
    task = site.add("Something slow")
    page = visit("/tasks")
    expect(page.locator(f"#row-{task}")).to_contain_text("Running")
    page.locator(f"#pick-{task}").check()
    site.patch(task, "pause")
    expect(page.locator(f"#row-{task}")).to_contain_text("Paused")
    expect(page.locator(f"#pick-{task}")).to_be_checked()
