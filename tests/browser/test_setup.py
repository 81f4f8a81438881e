"""Remit is set up on its pages: a real `remit up`, a real browser, and nothing in the terminal."""

import tomllib
from pathlib import Path

from playwright.sync_api import expect

from remit.store.secrets import Secrets
from tests.browser.desk import Desk

SECRET = "whsec_Y2FuYXJ5LW9mLXRoZS1ob29rLTRmN2Q5MQ=="


def _add_webhook(desk: Desk, url: str) -> None:
    desk.page.get_by_role("link", name="Webhook").click()
    desk.page.get_by_label("Name").fill("alarm")
    desk.page.get_by_label("Address").fill(url)
    desk.page.get_by_label("Signing secret").fill(SECRET)
    desk.page.get_by_label("It is in your own network").check()
    desk.save()


def test_a_channel_is_changed_and_removed_with_its_secret(desk: Desk, outside: str) -> None:
    page = desk.go("/settings/channels")
    _add_webhook(desk, "https://example.org/before")
    page.get_by_label("Address").fill(f"{outside}/in")
    desk.save()
    expect(page.get_by_label("Signing secret")).to_have_value("")
    assert SECRET not in page.content()
    assert tomllib.loads(desk.file)["channels"]["alarm"]["url"] == f"{outside}/in"

    page.get_by_role("button", name="Remove alarm").click()
    assert desk.next_event() == "restarted"
    expect(page.get_by_role("heading", name="Add a channel")).to_be_visible()
    assert "alarm" not in desk.file
    assert "alarm_secret" not in Secrets(desk.terminal.home).names()


def test_models_and_limits_are_set_and_what_is_missing_or_wrong_is_said(desk: Desk) -> None:
    page = desk.go("/inbox")
    page.get_by_role("link", name="Connect one").click()
    expect(page.get_by_role("heading", name="Language model", exact=True)).to_be_visible()
    _set_limits(desk)
    said = desk.terminal.run("add", "Research the parks of Bangkok", "--as-is")
    assert "remit setup brain" in said.out + said.err
    assert desk.next_event() == "notice"
    _name_a_second_model(desk)


def _set_limits(desk: Desk) -> None:
    budget = desk.go("/settings/brain").get_by_role("region", name="Budget")
    budget.get_by_label("Cents a day").fill("250")
    budget.get_by_role("button", name="Save").click()
    assert desk.next_event() == "restarted"
    page = desk.go("/settings/policies")
    page.get_by_label("Quiet hours").fill("late")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("22:00-07:00")
    expect(page.get_by_label("Quiet hours")).to_have_value("late")
    page.get_by_label("Quiet hours").fill("22:00-07:00")
    desk.save()

    told = tomllib.loads(desk.file)
    assert told["budget"]["day_cents"] == 250
    assert told["deliver"]["quiet"] == "22:00-07:00"


def _name_a_second_model(desk: Desk) -> None:
    """Its own table in the file stays when the page changes something else."""
    page = desk.go("/settings/brain")
    desk.fill(Model="openai:tiny", Second="openai:second")
    desk.save()
    expect(page.locator("[name=fallback]")).to_have_value("openai:second")
    assert tomllib.loads(desk.file)["brain"]["fallback"] == "openai:second"

    table = '{ model = "openai:second", base_url = "http://127.0.0.1:9/v1" }  # mine'
    written = desk.file.replace('"openai:second"', table)
    (desk.terminal.home / "settings.toml").write_text(written)
    assert desk.next_event() == "restarted"
    desk.go("/settings/brain")
    desk.fill(Model="openai:small")
    desk.save()
    assert f"fallback = {table}" in desk.file
    assert tomllib.loads(desk.file)["brain"]["model"] == "openai:small"


def test_what_comes_in_is_set_up_and_tried(desk: Desk, tmp_path: Path) -> None:
    page = desk.go("/settings/edit?section=folders")
    desk.fill(Name="scans", Folder=str(tmp_path))
    desk.save()
    page.get_by_role("button", name="Test scans").click()
    expect(page.locator("#tested")).to_contain_text("is there")
    page = desk.go("/settings/edit?section=hooks")
    page.get_by_label("Name").fill("shop")
    page.get_by_label("What to do with what it brings").fill("Say what was ordered.")
    page.get_by_role("button", name="Save").click()
    secret = page.locator("#secret").inner_text()
    assert Secrets(desk.terminal.home).get("hook_shop") == secret
    page = desk.go("/settings/edit?section=calendars")
    desk.fill(Name="work", Address="http://127.0.0.1:9/")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
    page.get_by_role("button", name="Test work").click()
    expect(page.locator("#tested.bad")).to_be_visible()

    told = tomllib.loads(desk.file)
    assert told["folders"]["scans"]["path"] == str(tmp_path)
    assert told["calendars"]["work"]["url"] == "http://127.0.0.1:9/"
