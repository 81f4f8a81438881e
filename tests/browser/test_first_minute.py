"""A newcomer's first minute: the command, the printed link, the first task, and it happens."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import PATIENCE
from tests.browser.first_run import STEPS, shoot_first_run


@pytest.fixture
def link(tmp_path: Path) -> Iterator[str]:
    """`remit up` in a home that was never used, as `make run` starts it; without any key."""
    keys = ("_API_KEY", "_TOKEN")
    environ = {name: value for name, value in os.environ.items() if not name.endswith(keys)}
    environ |= {"REMIT_HOME": str(tmp_path / "home"), "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}
    environ["REMIT_CALENDAR_OWN"] = "false"  # its port is one, and many run here at once
    command = [sys.executable, "-m", "remit.cli.main", "up", "--port", "0"]
    started = subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert started.stdout is not None
    found = None
    for line in started.stdout:
        if found := re.search(r"http://remit-\w+\.localhost:\d+/sign-in\?code=\S+", line):
            break
    try:
        assert found, "no link was printed"
        yield found[0]
    finally:
        started.terminate()
        started.communicate(timeout=100)


def test_the_printed_link_opens_signed_in_and_the_first_task_goes_through(
    browser: Browser, link: str
) -> None:
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(link)
    expect(page).to_have_url(re.compile(r"/welcome$"))
    page.get_by_role("link", name="Later").click()
    expect(page.get_by_role("heading", name="Hand over your first task")).to_be_visible()

    page.keyboard.press("c")
    page.get_by_role("dialog").get_by_role("textbox").fill("In 2 seconds remind me to stretch")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.get_by_role("link", name=re.compile("stretch", re.IGNORECASE)).first.click()
    expect(page.locator(".detail").get_by_text("Completed").first).to_be_visible()
    page.close()


def test_the_link_opens_once(browser: Browser, link: str) -> None:
    first = browser.new_context().new_page()
    first.set_default_timeout(PATIENCE)
    first.goto(link)
    expect(first).to_have_url(re.compile(r"/welcome$"))
    second = browser.new_context().new_page()
    second.set_default_timeout(PATIENCE)
    second.goto(link)
    expect(second.get_by_role("textbox", name=re.compile("token", re.IGNORECASE))).to_be_visible()
    first.context.close()
    second.context.close()


def test_the_first_run_leads_to_a_delivered_task_and_each_step_is_a_picture(
    browser: Browser, tmp_path: Path
) -> None:
    shown = list(shoot_first_run(browser, tmp_path / "pictures"))
    assert [each.stem.partition("-")[2] for each in shown] == list(STEPS)
    assert len({each.read_bytes() for each in shown}) == len(STEPS)
