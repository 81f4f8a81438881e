"""`remit tokens` and `remit open`: programs and browsers are let in, and sent away."""

import stat
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

from tests.cli.terminal import Terminal


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
