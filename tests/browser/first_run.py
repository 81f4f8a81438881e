"""The first run as pictures: from an empty home to the first delivered task. `make screenshots`.

Each picture is one thing that a newcomer does. A model and a webhook on loopback stand for those of
the newcomer; everything else is real: `remit up`, its printed link, the pages, a browser.
"""

import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.desk import KEY, Desk, new_desk, outside_server

ORDER: Final = "In 2 seconds remind me to stretch"
SECRET: Final = "whsec_Y2FuYXJ5LW9mLXRoZS1ob29rLTRmN2Q5MQ=="


def shoot_first_run(browser: Browser, folder: Path) -> Iterator[Path]:
    """Go through the first run; yield the picture after each step."""
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as home,
        outside_server() as outside,
        new_desk(Path(home), browser) as desk,
    ):
        for number, (name, step) in enumerate(STEPS.items(), 1):
            step(desk, outside)
            desk.page.evaluate("document.fonts.ready")
            file = folder / f"{number}-{name}.png"
            desk.page.screenshot(path=file)
            yield file


def _open_link(desk: Desk, _: str) -> None:
    expect(desk.page).to_have_url(f"{desk.url}/welcome")


def _say_who(desk: Desk, _: str) -> None:
    page = desk.page
    page.get_by_label("Your name").fill("Hanan")
    page.get_by_label("Your time zone").fill("Europe/Berlin")
    desk.save()
    expect(page.get_by_role("status").filter(has_text="on your clock")).to_be_visible()


def _give_model(desk: Desk, outside: str) -> None:
    expect(desk.page.get_by_text("None yet")).to_be_visible()
    expect(desk.page.get_by_role("link", name="Go on without one")).to_be_visible()
    desk.fill(Model="openai:tiny", Key=KEY, Address=f"{outside}/v1")
    desk.save()
    expect(desk.page.get_by_text("Ready")).to_be_visible()


def _test_model(desk: Desk, _: str) -> None:
    desk.page.get_by_role("button", name="Test").click()
    expect(desk.page.locator("#tested.ok")).to_be_visible()


def _choose_channel(desk: Desk, _: str) -> None:
    desk.page.get_by_role("link", name="Next").click()
    expect(desk.page.get_by_role("heading", name="Where shall Remit reach you?")).to_be_visible()


def _add_channel(desk: Desk, outside: str) -> None:
    page = desk.page
    page.get_by_role("link", name="Webhook").click()
    page.get_by_label("Name").fill("alarm")
    page.get_by_label("Address").fill(f"{outside}/in")
    page.get_by_label("Signing secret").fill(SECRET)
    page.get_by_label("It is in your own network").check()
    desk.save()
    expect(page.get_by_role("status").filter(has_text="Now test it")).to_be_visible()


def _test_channel(desk: Desk, _: str) -> None:
    desk.page.get_by_role("button", name="Test alarm").click()
    expect(desk.page.locator("#trial")).to_contain_text("Sent")


def _first_task(desk: Desk, _: str) -> None:
    page = desk.page
    page.get_by_role("link", name="give Remit a first task").click()
    page.locator("#words").fill(ORDER)
    page.get_by_role("button", name="Hand over").click()
    expect(_made(page)).to_be_visible()


def _delivered(desk: Desk, _: str) -> None:
    _made(desk.page).click()
    expect(desk.page.locator(".detail").get_by_text("Completed", exact=True).first).to_be_visible()


def _made(page: Page) -> Locator:
    return page.get_by_role("link", name=re.compile("stretch", re.IGNORECASE)).first


STEPS: Final[dict[str, Callable[[Desk, str], None]]] = {
    "link": _open_link,
    "you": _say_who,
    "model": _give_model,
    "model-tested": _test_model,
    "channels": _choose_channel,
    "channel": _add_channel,
    "channel-tested": _test_channel,
    "task": _first_task,
    "delivered": _delivered,
}
