"""The line between page and app: it breaks, and nothing is lost or told twice."""

import json
import re
from pathlib import Path

from playwright.sync_api import Browser, Page, WebSocket, expect

from tests.browser.conftest import PATIENCE
from tests.browser.site import Site
from tests.ports import free_port


class Ear:
    """Everything that a page was told by its sockets."""

    def __init__(self, page: Page) -> None:
        self.told: list[tuple[int, str, str]] = []
        page.on("websocket", self._follow)

    def wait(self, page: Page, seq: int) -> None:
        """Until it was told so far."""
        for _ in range(2000):
            if self.told and self.told[-1][0] >= seq:
                return
            page.wait_for_timeout(50)
        raise AssertionError(f"{seq} was never told")

    def _follow(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._hear)

    def _hear(self, frame: str | bytes) -> None:
        told = json.loads(frame)
        if str(told.get("type", "")).startswith("task:"):
            self.told.append((told["seq"], told["type"], str(told.get("taskId"))))


def _created(ear: Ear) -> list[str]:
    return [task for _, kind, task in ear.told if kind == "task:created"]


def test_a_page_that_lost_its_app_hears_every_event_once_after_a_restart(
    tmp_path: Path, browser: Browser
) -> None:
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    ear = Ear(page)
    port = free_port()  # the next app must find it free again
    with Site(tmp_path, port=port) as first:
        page.goto(first.link())
        # A page that is left has nothing under way: it hears no more, and draws itself no more.
        page.goto("about:blank")
        first.add("Look around in Bang Rak")
        first.settle()
        page.goto(first.url + "/tasks")
        before = first.add("Look around in Lumphini Park")
        expect(page.get_by_text(re.compile("1 new task"))).to_be_visible()
        first.settle()
    expect(page.get_by_text("Connection lost")).to_be_visible()
    with Site(tmp_path, port=port) as second:
        during = second.add("Look around in Ari")  # while the page is not there yet
        expect(page.get_by_text("Connection lost")).to_be_hidden()
        after = second.add("Look around in Thonglor")
        second.settle()
        ear.wait(page, int(str(second.get("/api/events?limit=1000")["last"])))
        assert [task for task in _created(ear) if task in (before, during, after)] == [
            before,
            during,
            after,
        ]
        assert len(ear.told) == len(set(ear.told))
        assert ear.told == sorted(ear.told, key=lambda told: told[0])
    context.close()
