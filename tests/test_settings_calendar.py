"""Calendars in the settings: what may be said, and how a mistake is named without a secret."""

from datetime import time
from pathlib import Path

import pytest

from remit.errors import BadInput
from remit.settings import CalendarServer, load

GOOD = 'url = "https://dav.example.org/"\nuser = "hanan"\npassword = "work_calendar"\n'


def written(home: Path, text: str) -> dict[str, str]:
    (home / "settings.toml").write_text(text, encoding="utf-8")
    return {"REMIT_HOME": str(home)}


def test_an_account_is_read_with_all_that_may_be_said(tmp_path: Path) -> None:
    text = f'[calendars.work]\n{GOOD}calendars = ["Agenda"]\ntrusted = true\npoll = 30\n'
    found = load(
        written(tmp_path, text + '[calendar]\nall_day_at = "07:30"\nme = "A@x.org, b@x.org"')
    )

    assert found.calendars == {
        "work": CalendarServer(
            url="https://dav.example.org/",
            user="hanan",
            password="work_calendar",
            calendars=("Agenda",),
            trusted=True,
            poll=30,
        )
    }
    assert found.calendar.morning == time(7, 30)
    assert found.calendar.mine == {"a@x.org", "b@x.org"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("calendars = 5", "must be a table of accounts"),
        ("[calendars]\nwork = 5", "must be a table with a url"),
        (f"[calendars.own]\n{GOOD}", "and not own"),
        (f"[calendars.Work]\n{GOOD}", "a name is of small letters"),
        ('[calendars.work]\nuser = "x"', "url"),
        (f"[calendars.work]\n{GOOD}color = 1", "Known: url, user, password, oauth, calendars"),
        ('[calendars.work]\nurl = "dav.example.org"', "url must be an address such as"),
        ('[calendars.work]\nurl = "http://[::1"', "url must be an address such as"),
        ('[calendars.work]\nurl = "http://dav.example.org/"', "plain = true"),
        ('[calendars.work]\nurl = "https://me:hush@dav.example.org/"', "no part of the url"),
        ('[calendars.work]\nurl = "https://x.org/"\nuser = "x"', "user needs password"),
        (GOOD.replace("work_calendar", "hush, you!").join(("[calendars.work]\n", "")), "renew it"),
        (f"[calendars.work]\n{GOOD}poll = 1", "at least 5 seconds"),
        (f'[calendars.work]\n{GOOD}calendars = [" "]', "may not be empty"),
        ('[calendar]\nall_day_at = "9"', "one looks like 09:00"),
    ],
)
def test_a_mistake_is_named_and_no_secret_with_it(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        load(written(tmp_path, text))

    assert sentence in str(refused.value)
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize("url", ["http://localhost:5232/", "http://nas.lan/", "https://x.org/"])
def test_plain_http_is_for_this_machine_or_for_who_says_so(tmp_path: Path, url: str) -> None:
    text = f'[calendars.work]\nurl = "{url}"\nplain = {str("nas" in url).lower()}\n'

    assert load(written(tmp_path, text)).calendars["work"].url == url
