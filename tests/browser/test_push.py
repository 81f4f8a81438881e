"""Push in a real browser: asked on a click alone, shown by the worker, and opened from there.

The push service of a browser's maker is out of reach here; what it would hand to the browser is
handed to it by the browser's own tools.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Worker, expect

from remit.brain.scripted import parse
from remit.model.ids import TaskId
from remit.model.review import Review
from remit.store import callers, reviews
from tests.browser.conftest import PATIENCE, Driver, Visit, launched
from tests.browser.site import Site, barriers, chromium

# A subscription as the browser would make it, with a real pair of keys.
SUBSCRIBES = """
const text = (bytes) => btoa(String.fromCharCode(...bytes))
  .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const made = async function ({ userVisibleOnly, applicationServerKey }) {
  if (!userVisibleOnly || applicationServerKey.length !== 65) throw new Error("not as it must be");
  const curve = { name: "ECDH", namedCurve: "P-256" };
  const pair = await crypto.subtle.generateKey(curve, true, ["deriveBits"]);
  const point = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
  const keys = { p256dh: text(point), auth: text(new Uint8Array(16)) };
  const told = { endpoint: "https://push.example.org/one", expirationTime: null, keys };
  return { toJSON: () => told };
};
PushManager.prototype.subscribe = made;
PushManager.prototype.getSubscription = async () => null;
window.asked = 0;
Notification.requestPermission = async () => { window.asked += 1; return Notification.permission; };
"""


@pytest.fixture(scope="module")
def shared_browser(driver: Driver) -> Iterator[Browser]:
    """Only the browser of a desktop has notifications."""
    with launched(driver, chromium(desktop=True)) as browser:
        yield browser


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path, brain=parse([{"ask": "Single or multiple entry?"}])) as site:
        yield site


def _opened(visit: Visit, site: Site, *, allowed: bool = True) -> Page:
    page = visit("/inbox")
    if allowed:
        page.context.grant_permissions(["notifications"], origin=site.url)
    page.add_init_script(SUBSCRIBES)
    page.goto(f"{site.url}/settings/notices")
    return page


def _kept(site: Site) -> list[callers.PushSubscription]:
    async def read() -> list[callers.PushSubscription]:
        return await site.app.db.read(callers.pushes, site.clock.now())

    return site.do(read())


def test_a_click_has_this_browser_told_and_another_has_it_told_no_more(
    site: Site, visit: Visit
) -> None:
    page = _opened(visit, site)
    switch = page.get_by_role("switch", name="Tell this browser")
    expect(switch).not_to_be_checked()
    assert page.evaluate("asked") == 0
    switch.click()
    expect(switch).to_be_checked()
    assert page.evaluate("asked") == 1
    assert [each.endpoint for each in _kept(site)] == ["https://push.example.org/one"]

    page.reload()
    expect(switch).to_be_checked()
    assert page.evaluate("asked") == 0
    assert barriers(page) == []
    switch.click()
    expect(switch).not_to_be_checked()
    assert _kept(site) == []


def test_who_does_not_allow_it_is_not_subscribed(site: Site, visit: Visit) -> None:
    page = _opened(visit, site, allowed=False)
    page.evaluate("Notification.requestPermission = async () => 'denied'")
    switch = page.get_by_role("switch", name="Tell this browser")
    if switch.is_enabled():
        switch.click()

    expect(switch).not_to_be_checked()
    assert _kept(site) == []


NOTE = {"title": "Remit", "body": "Nina needs you.", "href": "/inbox", "tag": "rev-1"}
SHOWN = """async () => {
  const shown = await registration.getNotifications();
  return shown.map((each) => [each.title, each.body, each.tag, each.data]);
}"""


LOOKS = """() => {
  const ask = clients.matchAll.bind(clients);
  self.looked = new Promise((go) => {
    clients.matchAll = async (...words) => {
      const found = await ask(...words);
      setTimeout(go, 0);
      return found;
    };
  });
}"""


COUNTED = """async (many) => {
  for (let n = 0; n < 500; n++) {
    if ((await registration.getNotifications()).length >= many) return;
    await new Promise((go) => setTimeout(go, 10));
  }
}"""
ALONE = """async () => {
  for (let n = 0; n < 3000; n++) {
    const pages = await clients.matchAll({ type: "window", includeUncontrolled: true });
    if (!pages.some((page) => page.focused)) return;
    await new Promise((go) => setTimeout(go, 10));
  }
}"""


def _worker_of(page: Page) -> Worker:
    """The one worker; of its start we may hear a moment later than the page does."""
    if not page.context.service_workers:
        page.context.wait_for_event("serviceworker", timeout=PATIENCE)
    (found,) = page.context.service_workers
    return found


class _Worker:
    """The worker of a browser that is told, and what hands it a push as the service does."""

    def __init__(self, page: Page, site: Site) -> None:
        page.get_by_role("switch", name="Tell this browser").click()
        expect(page.get_by_role("switch")).to_be_checked()
        self._worker = _worker_of(page)
        self._site = site
        self._found: list[str] = []
        self._line = page.context.new_cdp_session(page)
        self._line.on("ServiceWorker.workerRegistrationUpdated", self._registered)
        self._line.send("ServiceWorker.enable")
        while not self._found:
            page.wait_for_timeout(10)  # events come meanwhile

    def _registered(self, event: dict[str, list[dict[str, str]]]) -> None:
        self._found += [each["registrationId"] for each in event["registrations"]]

    def push(self, told: str) -> None:
        assert self._found
        message = {"origin": self._site.url, "registrationId": self._found[0], "data": told}
        self._line.send("ServiceWorker.deliverPushMessage", message)

    def push_looked_at(self, told: str) -> None:
        """The same; return only when the worker has looked which pages there are."""
        self._worker.evaluate(LOOKS)
        self.push(told)
        self._worker.evaluate("looked")

    def run(self, script: str, told: object) -> None:
        self._worker.evaluate(script, told)

    def actions(self) -> list[str]:
        """What the buttons of the one notice say."""
        script = "async () => (await registration.getNotifications())[0].actions"
        return [each["title"] for each in self._worker.evaluate(script)]

    def alone(self) -> None:
        """Return only when no page is in front any more; the browser is told of that later."""
        self._worker.evaluate(ALONE)

    def told(self, many: int, *messages: str) -> list[list[str]]:
        """What is shown after these, once it is so many.

        The page that hands them over has just been left: what is lost with it is handed over again,
        and under one tag it is one notice.
        """
        found: list[list[str]] = []
        for _ in range(8):
            self._line.send("ServiceWorker.enable")
            for each in messages:
                self.push(each)
            self._worker.evaluate(COUNTED, many)
            found = self._worker.evaluate(SHOWN)
            if len(found) >= many:
                break
        return sorted(found)


def test_the_worker_shows_what_was_pushed_while_no_page_is_open(site: Site, visit: Visit) -> None:
    page = _opened(visit, site)
    worker = _Worker(page, site)
    page.goto("about:blank")
    worker.alone()
    told = worker.told(1, json.dumps(NOTE))
    assert told == [["Remit", "Nina needs you.", "rev-1", "/inbox"]]

    # The same thing again is the same notice; what cannot be read is told all the same.
    again = json.dumps(NOTE | {"body": "Nina still needs you."})
    assert worker.told(2, again, "no JSON") == [
        ["Remit", "Nina still needs you.", "rev-1", "/inbox"],
        ["Remit", "Something needs you.", "remit", "/inbox"],
    ]


def test_whoever_has_a_page_in_front_is_not_told_twice(site: Site, visit: Visit) -> None:
    page = _opened(visit, site)
    worker = _Worker(page, site)
    worker.push_looked_at(json.dumps(NOTE))
    page.goto("about:blank")
    worker.alone()
    told = worker.told(1, json.dumps(NOTE | {"tag": "rev-2"}))

    assert told == [["Remit", "Nina needs you.", "rev-2", "/inbox"]]


# What a click on the action of a notice does. A click lets the worker focus a page; here none was.
CLICKS = """async (told) => {
  WindowClient.prototype.focus = async () => {};
  await registration.showNotification("Remit", { tag: told.tag, data: told.href });
  const [notification] = await registration.getNotifications({ tag: told.tag });
  dispatchEvent(new NotificationEvent("notificationclick", { notification, action: "open" }));
}"""


def test_approve_on_a_notice_opens_the_card_and_decides_nothing_by_itself(
    site: Site, visit: Visit
) -> None:
    task = TaskId(str(site.post("/api/tasks", {"text": "Apply for the visa"})["id"]))
    page = _opened(visit, site)
    worker = _Worker(page, site)

    async def asked() -> list[Review]:
        return await site.app.db.read(reviews.of_task, task)

    while not (found := site.do(asked())):
        page.wait_for_timeout(50)
    review = found[0]
    note = {"title": "Remit", "body": "Nina needs you.", "href": f"/inbox/{review.id}", "tag": "r"}
    page.goto("about:blank")
    worker.alone()
    worker.told(1, json.dumps(note))
    assert worker.actions() == ["Look and approve"]

    page.goto(f"{site.url}/tasks")
    worker.run(CLICKS, note)
    expect(page).to_have_url(f"{site.url}/inbox/{review.id}")
    expect(page.get_by_role("heading", name="Single or multiple entry?").first).to_be_visible()
    digest = page.locator("#decide input[name=digest]").get_attribute("value")
    assert digest, "an answer counts only for what the card shows"
    (after,) = site.do(asked())
    assert after.decision is None
