"""`remit tokens` and `remit open`: programs and browsers are let in, and sent away."""

import re
import stat
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

from tests.cli.terminal import Terminal


def test_a_token_is_made_shown_once_listed_and_taken_back(own_seat: Terminal) -> None:
    seat = own_seat
    none = seat.run("tokens")
    made = seat.run("tokens", "add", "ci", "--scope", "read", "--scope", "write", "--days", "7")
    again = seat.run("tokens", "add", "ci", "--json")
    listed = seat.run("tokens")
    gone = seat.run("tokens", "revoke", "ci", "--json")
    missing = seat.run("tokens", "revoke", "ci")

    assert "none but your own" in none.err
    assert re.fullmatch(r"remit_[\w-]{43}\n", made.out)
    assert "ci may read and write" in made.err
    assert (again.code, again.json["exit"]) == (5, 5)
    assert re.search(r"ci +read, write +- +\d{4}-", listed.out)
    assert made.out.strip() not in listed.out + listed.err
    assert gone.json["name"] == "ci"
    assert gone.json["revokedAt"]
    assert missing.code == 3


def test_a_token_opens_what_it_may(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    secret = seat.run("tokens", "add", "reader").out.strip()
    with seat.up() as up:
        read = _ask(f"{up.told['url']}/api/tasks", secret)
        seat.run("tokens", "revoke", "reader")
        after = _ask(f"{up.told['url']}/api/tasks", secret)

    assert (read, after) == (200, 401)


def test_the_link_that_up_prints_signs_in_once(tmp_path: Path) -> None:
    with Terminal(tmp_path).up() as up:
        link = str(up.told["signIn"])
        first, second = _follow(link), _follow(link)

    assert link.startswith("http://remit-")
    assert (first, second) == (303, 401)


def test_open_makes_a_new_link_and_shows_it_in_the_browser(tmp_path: Path) -> None:
    seat, seen = Terminal(tmp_path), tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {seen}\n')
    browser.chmod(browser.stat().st_mode | stat.S_IXUSR)
    with seat.up():
        shown = seat.run("open", "--json", BROWSER=str(browser))
        printed = seat.run("open", "--print", BROWSER=str(browser))
        blind = seat.run("open", "--json")
        links = [str(shown.json["url"]), printed.out.strip(), str(blind.json["url"])]
        followed = [_follow(link) for link in links]

    assert shown.json["opened"] is True
    assert blind.json["opened"] is False
    assert seen.read_text() == links[0]
    assert followed == [303, 303, 303]
    assert len({*links}) == 3


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def _follow(link: str) -> int:
    """Follow a link to a name under .localhost, as a browser would."""
    host = urlsplit(link).netloc
    here = link.replace(host, f"127.0.0.1:{urlsplit(link).port}", 1)
    return _status(urllib.request.Request(here, headers={"Host": host}))  # noqa: S310 - our own


def _ask(address: str, secret: str) -> int:
    headers = {"Authorization": f"Bearer {secret}"}
    return _status(urllib.request.Request(address, headers=headers))  # noqa: S310 - our own


def _status(request: urllib.request.Request) -> int:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Stay())
    try:
        with opener.open(request, timeout=100) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code
