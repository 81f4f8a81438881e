"""Pictures of every page, in each light and size, and of the first run: `make screenshots`."""

import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.conftest import FLAGS, PHONE, WIDE
from tests.browser.first_run import shoot_first_run
from tests.browser.furnish import Furnished
from tests.browser.site import chromium

LIGHTS: Final = ("light", "dark")
SIZES: Final = ("wide", "phone")


def pages(site: Furnished) -> dict[str, str]:
    """Return every page by a short name, with an address in this app."""
    return {
        "inbox": "/inbox",
        "letter": f"/inbox/{site.review_about('Bangkok')}",
        "question": f"/inbox/{site.review_about('Phuket')}",
        "mail": f"/inbox/{site.review_about('Catch-up')}",
        "tasks": "/tasks",
        "no-match": "/tasks?q=status%3Acancelled",
        "task": f"/tasks/{site.task_about('Bangkok')}",
        "failed": f"/tasks/{site.task_about('expenses')}",
        "unproven": f"/inbox/{site.review_about('Swiss')}",
        "merge": f"/inbox/{site.review_about('currency')}",
        "code": f"/tasks/{site.task_about('currency')}",
        "stuck": f"/tasks/{site.task_about('Swiss')}",
        "advice": f"/tasks/{site.task_about('checkout is slow')}",
        "not-verified": "/tasks?q=is%3Aunverified",
        "running": f"/tasks/{site.task_about('insurance')}",
        "schedule": "/schedule",
        "month": "/schedule?span=month",
        "conversations": "/conversations",
        "conversation": f"/conversations/{site.conversation()}",
        "new": "/new",
        "settings": "/settings/brain",
        "channels": "/settings/channels",
        "contacts": "/settings/contacts",
        "policies": "/settings/policies",
        "projects": "/settings/projects",
        "notices": "/settings/notices",
        "tokens": "/settings/tokens",
        **{
            name: f"/settings/{name}"
            for name in ("you", "inbound", "calendars", "priority", "about")
        },
        "account": "/settings/account?kind=gmail",
        "calendar": "/settings/account?kind=google",
        "new-channel": "/settings/edit?section=channels&kind=email",
        **{f"new-{name}": f"/settings/edit?section={name}s" for name in ("door", "hook")},
        "budget": "/settings/edit?section=budget",
        "welcome": "/welcome",
        **{f"welcome-{step}": f"/welcome?step={step}" for step in (2, 3)},
        "edit": f"/tasks/{site.task_about('Bangkok')}/edit",
        "again": f"/tasks/{site.task_about('expenses')}/again",
        "delete": f"/tasks/{site.task_about('expenses')}/delete",
        "compare": f"/tasks/{site.task_about('expenses')}/compare",
        "missing": "/tasks/task-00000000000000000000000000",
    }


def window(browser: Browser, site: Furnished, *, dark: bool, phone: bool) -> Page:
    """A signed-in window."""
    context = browser.new_context(
        viewport=PHONE if phone else WIDE,
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
    )
    site.sign_in(context)
    page = context.new_page()
    site.watch(page)
    return page


def shoot(folder: Path) -> Iterator[str]:
    """Take all screenshots; yield each file's name."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home, Furnished(Path(home) / "home") as site:
        site.furnish()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
            for light, size in product(LIGHTS, SIZES):
                page = window(browser, site, dark=light == "dark", phone=size == "phone")
                for name, address in pages(site).items():
                    page.goto(site.url + address)
                    page.evaluate("document.fonts.ready")
                    file = folder / f"{name}-{light}-{size}.png"
                    page.screenshot(path=file)
                    yield file.name
            for file in shoot_first_run(browser, folder / "first-run"):
                yield f"first-run/{file.name}"
            browser.close()


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots")
    for name in shoot(folder):
        print(folder / name)  # noqa: T201 - it is run by hand


if __name__ == "__main__":
    main()
