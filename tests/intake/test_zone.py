"""Whose clock it is: the settings say, else the machine, else UTC."""

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from remit.errors import BadInput
from remit.settings import load
from remit.system.owner_zone import find_owner_zone, show_moment


def linked(folder: Path, name: str) -> Path:
    target = folder / "usr" / "share" / "zoneinfo" / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.touch()
    link = folder / "localtime"
    link.symlink_to(target)
    return link


def test_the_settings_come_first_then_the_variable_then_the_machine(tmp_path: Path) -> None:
    link = linked(tmp_path, "Asia/Tokyo")
    environ = {"TZ": ":America/New_York"}

    named = find_owner_zone("Europe/Berlin", environ, link)
    told = find_owner_zone("", environ, link)
    found = find_owner_zone("", {}, link)

    assert [each.zone.key for each in (named, told, found)] == [
        "Europe/Berlin",
        "America/New_York",
        "Asia/Tokyo",
    ]
    assert [each.since for each in (named, told, found)] == [
        "from the settings",
        "from the variable TZ",
        "from this machine",
    ]


@pytest.mark.parametrize("variable", ["", "CET-1CEST", "../../etc/passwd", "Mars/Base"])
def test_what_names_no_zone_is_passed_over(tmp_path: Path, variable: str) -> None:
    found = find_owner_zone("", {"TZ": variable}, tmp_path / "nothing")

    assert (found.zone.key, found.since) == ("UTC", "for this machine names none")


def test_a_file_that_is_no_link_into_the_zones_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "localtime").write_bytes(b"TZif2")

    assert find_owner_zone("", {}, tmp_path / "localtime").zone.key == "UTC"


def test_a_moment_is_shown_so_that_nobody_can_take_it_for_another() -> None:
    at = datetime(2026, 3, 3, 8, 30, tzinfo=UTC)

    assert (
        show_moment(at, ZoneInfo("Europe/Berlin")) == "Tue 2026-03-03 09:30 +01:00 (Europe/Berlin)"
    )
    assert show_moment(at, ZoneInfo("Asia/Kolkata")) == "Tue 2026-03-03 14:00 +05:30 (Asia/Kolkata)"


def test_a_zone_that_does_not_exist_is_refused_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text('zone = "Mars/Base"')

    with pytest.raises(BadInput, match="is 'Mars/Base'; one looks like Europe/Berlin"):
        load({"REMIT_HOME": str(tmp_path)})


def test_a_zone_may_come_from_the_environment(tmp_path: Path) -> None:
    environ = {"REMIT_HOME": str(tmp_path), "REMIT_ZONE": "Europe/Berlin"}

    assert load(environ).zone == "Europe/Berlin"
