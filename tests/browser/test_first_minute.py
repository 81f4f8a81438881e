"""A newcomer's first run: the command, the printed link, set-up, the first task, its delivery."""

from pathlib import Path

from playwright.sync_api import Browser

from tests.browser.first_run import STEPS, shoot_first_run


def test_the_first_run_leads_to_a_delivered_task_and_each_step_is_a_picture(
    browser: Browser, tmp_path: Path
) -> None:
    shown = list(shoot_first_run(browser, tmp_path / "pictures"))
    assert [each.stem.partition("-")[2] for each in shown] == list(STEPS)
    assert len({each.read_bytes() for each in shown}) == len(STEPS)
