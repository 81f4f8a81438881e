"""The page of one task, in a real browser: watched, stopped, changed, tried again, compared."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import replace
from playwright.sync_api import Route, expect

from remit.model.codec import Json, JsonMap
from remit.model.ids import TaskId
from remit.model.run import EventKind, NewEvent
from remit.model.status import Actor, Status
from remit.store import events
from remit.store.database import Tx
from tests.browser.conftest import Visit
from tests.browser.puppet import Puppet
from tests.browser.site import Site


@pytest.fixture
def puppet() -> Puppet:
    return Puppet()


@pytest.fixture
def site(tmp_path: Path, puppet: Puppet) -> Iterator[Site]:
    with Site(tmp_path, brain=puppet) as site:
        yield site
        site.do(puppet.rest())


def begun(
    site: Site,
    title: str = "Compare three offers",
    *work: str,
    contract: "JsonMap | None" = None,
) -> str:
    """A task that is being thought about."""
    more: JsonMap = {"contract": contract} if contract else {}
    task = site.add(title, work=list(work), title=title, instructions=title, **more)
    until(site, task, Status.RUNNING)
    return task


def until(site: Site, task: str, *wanted: Status) -> None:
    """Wait until a task has come to stand so."""

    async def follow() -> None:
        site.app.engine.nudge()
        async for event in site.app.journal.follow(0):
            if event.task_id == task and event.data.get("to") in wanted:
                return

    site.do(follow())


def test_work_items_tick_while_one_watches(site: Site, puppet: Puppet, visit: Visit) -> None:
    task = begun(site, "Compare three offers", "Read the offers", "Compare them")
    page = visit(f"/tasks/{task}")
    work = page.get_by_role("region", name="Work")
    expect(work.get_by_text("0 of 2")).to_be_visible()
    site.do(puppet.say("✓ STEP 1: read all three"))
    expect(work.get_by_text("1 of 2")).to_be_visible()
    site.do(puppet.say("✓ STEP 2: held them against each other"))
    site.do(puppet.answer("<deliverable>Take the second one.</deliverable>"))
    expect(work.get_by_text("2 of 2")).to_be_visible()
    delivery = page.get_by_role("region", name="Result")
    expect(delivery.get_by_text("Take the second one.")).to_be_visible()
    expect(delivery.get_by_text(re.compile("Posted"))).to_be_visible()
    expect(page.locator("h1 + .chips").get_by_text("Completed")).to_be_visible()


def test_a_run_with_nothing_to_report_says_so_and_claims_no_failed_check(
    site: Site, puppet: Puppet, visit: Visit
) -> None:
    words = "Check the price of the lamp and tell me only if it drops"
    made = cast("list[JsonMap]", site.post("/api/messages", {"text": words})["tasks"])
    task = str(made[0]["id"])
    until(site, task, Status.RUNNING)
    site.do(puppet.answer("<nothing-to-report>The price is still 40.</nothing-to-report>"))
    until(site, task, Status.COMPLETED)

    page = visit(f"/tasks/{task}")
    result = page.get_by_role("region", name="Result")
    expect(result).to_contain_text("Nothing to report. The price is still 40.")
    expect(page.locator("main")).to_contain_text("there was nothing to report, so nothing was sent")
    for wrong in ("Not verified", "did not pass", "No text was written", "Not sent"):
        expect(page.locator("main")).not_to_contain_text(wrong)
    page.goto(f"{site.url}/tasks")
    expect(page.locator("main")).to_contain_text("Nothing to report")
    expect(page.get_by_role("link", name=re.compile("Not verified"))).to_have_count(0)


def test_what_happens_while_a_part_is_being_drawn_is_drawn_too(
    site: Site, puppet: Puppet, visit: Visit
) -> None:
    task = begun(site, "Compare three offers", "Read the offers", "Compare them")
    page = visit(f"/tasks/{task}")
    held: list[tuple[Route, str]] = []
    released = False

    def keep(route: Route) -> None:
        text = site.client.get(route.request.url, headers={"Cookie": cookie}).text
        route.fulfill(body=text, content_type="text/html") if released else held.append(
            (route, text)
        )

    (kept,) = page.context.cookies()
    cookie = f"{kept['name']}={kept['value']}"
    page.route("**/part/body*", keep)
    log = page.get_by_role("log")
    site.do(puppet.say("✓ STEP 1: read all three"))
    expect(log.get_by_text("read all three")).to_be_visible()
    site.do(puppet.say("✓ STEP 2: held them against each other"))
    expect(log.get_by_text("held them against")).to_be_visible()
    released = True
    for route, text in held:
        route.fulfill(body=text, content_type="text/html")
    expect(page.get_by_role("region", name="Work").get_by_text("2 of 2")).to_be_visible()


def test_the_log_follows_and_its_filter_holds_for_what_comes(
    site: Site, puppet: Puppet, visit: Visit
) -> None:
    task = begun(site)
    page = visit(f"/tasks/{task}")
    log = page.get_by_role("log")
    # What is said is told once a second at most, on the app's clock.
    site.do(puppet.say("I begin with the first offer."))
    site.clock.advance(timedelta(seconds=2))
    site.do(puppet.say("The second one is cheaper."))
    expect(log.get_by_text("I begin with the first offer.")).to_be_visible()
    page.get_by_role("navigation", name="Which lines").get_by_text("Tools").click()
    expect(log.get_by_text("I begin with the first offer.")).to_have_count(0)
    expect(page).to_have_url(re.compile("show=tools"))
    site.do(puppet.use("search_tasks", query="offers"))
    expect(log.get_by_text("search_tasks", exact=True)).to_be_visible()
    site.do(puppet.answer("<deliverable>Done.</deliverable>"))
    until(site, task, Status.COMPLETED)
    expect(log.locator("[data-n]")).to_have_count(1)
    page.reload()
    expect(log.locator("[data-n]")).to_have_count(1)


def test_a_line_of_the_log_has_an_address(site: Site, visit: Visit) -> None:
    task = planned(site)
    site.write(_much_is_said, TaskId(task), site.clock.now())
    page = visit(f"/tasks/{task}#log-2")
    expect(page.locator("#log-2")).to_be_in_viewport()
    assert page.locator(".log [data-n]").count() > 200


def _much_is_said(tx: Tx, task: TaskId, now: datetime) -> None:
    for n in range(240):
        told = NewEvent(EventKind.RUN_SAID, Actor.EXECUTOR, {"text": f"Offer {n}\n"})
        events.tell_task(tx, task, told, now)


def test_errors_are_counted_and_walked_to(site: Site, puppet: Puppet, visit: Visit) -> None:
    task = begun(site)
    page = visit(f"/tasks/{task}")
    errors = page.locator("[data-errors]")
    expect(errors).to_have_text("0")
    site.do(puppet.break_off("the line is down"))
    expect(errors).to_have_text("1")
    page.keyboard.press(".")
    expect(page.locator(".log p.hl.at")).to_contain_text("the line is down")


def test_a_running_task_is_paused_and_goes_on(site: Site, puppet: Puppet, visit: Visit) -> None:
    task = begun(site)
    page = visit(f"/tasks/{task}")
    page.keyboard.press("p")
    state = page.locator("h1 + .chips")
    expect(state.get_by_text("Paused")).to_be_visible()
    page.get_by_role("button", name="Resume", exact=True).click()
    expect(state.get_by_text("Running", exact=True)).to_be_visible()
    site.do(puppet.answer("<deliverable>Done.</deliverable>"))
    expect(state.get_by_text("Completed")).to_be_visible()


def test_what_was_approved_is_called_back(site: Site, puppet: Puppet, visit: Visit) -> None:
    to: list[Json] = [{"channel": "outbox", "recipient": "anna@example.org"}]
    task = site.add("Write to Anna", delivery=to)
    until(site, task, Status.RUNNING)
    site.do(puppet.answer("<deliverable>Hi Anna.</deliverable>"))
    until(site, task, Status.NEEDS_REVIEW)
    page = visit(f"/tasks/{task}")
    card = page.get_by_role("region", name="What goes out")
    expect(card.get_by_text("Asks first")).to_be_visible()
    expect(card.get_by_text("Hi Anna.")).to_be_visible()
    review = str(page.get_by_role("link", name="Review draft").get_attribute("href"))
    site.post(f"/api/reviews/{review.rpartition('/')[2]}/decision", {"answer": "approve"})
    page.reload()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("h1 + .chips").get_by_text("Needs you")).to_be_visible()
    assert site.outbox.sent == []


def planned(site: Site) -> str:
    at = (site.clock.now() + timedelta(days=3)).isoformat().replace("+00:00", "Z")
    task = site.add("Plan the trip", instructions="Plan it", scheduledFor=at)
    until(site, task, Status.READY)
    return task


def test_another_try_with_other_words_leaves_the_old_one_as_it_is(
    site: Site, puppet: Puppet, visit: Visit
) -> None:
    task = begun(site)
    site.do(puppet.give_up("no such offer"))
    until(site, task, Status.FAILED)
    before = site.stored(task)
    page = visit(f"/tasks/{task}")
    expect(page.get_by_text("no such offer").first).to_be_visible()
    page.get_by_label("More actions").click()
    page.get_by_role("link", name="Retry with other instructions").click()
    page.get_by_label("Instructions").fill("Compare the two that are there")
    page.get_by_role("button", name="Retry").click()
    expect(page.get_by_role("link", name="compare", exact=True)).to_be_visible()
    assert replace(site.stored(task), seen_at=None) == before
    fresh = page.url.rpartition("/")[2]
    assert site.stored(fresh).retry_of == task
    assert site.stored(fresh).instructions == "Compare the two that are there"


def test_two_attempts_are_compared(site: Site, puppet: Puppet, visit: Visit) -> None:
    task = begun(site)
    site.do(puppet.break_off("the line is down"))
    page = visit(f"/tasks/{task}")
    expect(page.get_by_text("Did not work out").first).to_be_visible()
    site.clock.advance(timedelta(minutes=5))
    site.do(_nudge(site))
    site.do(puppet.answer("<deliverable>The green one.</deliverable>"))
    until(site, task, Status.COMPLETED)
    page.goto(f"{site.url}/tasks/{task}/compare?a=1&b=2")
    expect(page.get_by_role("group", name="Attempt 1")).to_contain_text("the line is down")
    expect(page.get_by_role("group", name="Attempt 2")).to_contain_text("None")
    expect(page.locator("ins")).to_have_text("The green one.")
    page.goto(f"{site.url}/tasks/{task}?attempt=1")
    expect(page.get_by_role("img", name=re.compile("Timeline of attempt 1"))).to_be_visible()


async def _nudge(site: Site) -> None:
    site.app.engine.nudge()
