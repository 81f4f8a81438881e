"""A Remit that runs takes up calendars, hooks and recall from settings.toml as they change."""

import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import cast

from remit.model.codec import JsonMap
from tests.calendar.caldav_servers import Server
from tests.cli.terminal import LIMIT, Terminal
from tests.cli.test_cli_hooks import called


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT
    while not holds():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.1)


def test_hooks_count_while_remit_runs_and_a_bad_file_changes_nothing(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    file = seat.home / "settings.toml"
    with seat.up() as up:
        url = str(up.told["url"])
        assert called(url, "any")[0] == 404
        secret = seat.run("hooks", "add", "shop", "--text", "Say what was ordered.").out.strip()
        until(lambda: called(url, secret)[0] == 202)
        assert called(url, "whsec_wrong")[0] == 401
        good = file.read_text()

        file.write_text(good + "\n[hooks.other\n")
        assert up.process.stderr is not None
        said = ""
        while "settings.toml" not in said:
            said = up.process.stderr.readline()
            assert said, "it ended without a word"
        assert said.startswith("The settings from before stay in use.")
        assert "is not valid TOML" in said
        assert called(url, secret, b'{"n": 2}')[0] == 202

        file.unlink()  # as an editor does that writes a new one
        file.write_text(good.replace("[hooks.shop]", "[hooks.shop]\nhourly = 2"))
        new = count(3)  # the same call again would be known again
        until(lambda: called(url, secret, b'{"n": %d}' % next(new))[0] == 429)
        assert seat.run("hooks", "remove", "shop").code == 0
        until(lambda: called(url, secret)[0] == 404)


def test_settings_that_cannot_be_used_leave_the_old_ones_in_use(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    file = seat.home / "settings.toml"
    lost = str(tmp_path / "lost.pem")
    with seat.up() as up:
        url = str(up.told["url"])
        file.write_text(
            f'{file.read_text()}\n[server]\npublic_url = "https://remit.example.org"\n'
            f'tls_cert = "{lost}"\ntls_key = "{lost}"\n'
        )
        assert up.process.stderr is not None
        said = ""
        while not said.startswith("The settings from before stay in use."):
            said = up.process.stderr.readline()
            assert said, "it ended without a word"
        until(lambda: _answers(url))
        assert up.process.poll() is None


def _answers(url: str) -> bool:
    try:
        return called(url, "any")[0] == 404
    except OSError:
        return False  # it is being built anew


def test_an_account_that_is_added_is_watched_and_one_that_is_taken_out_is_not(
    tmp_path: Path,
) -> None:
    seat, server = Terminal(tmp_path), Server("xandikos", tmp_path / "server")
    file = seat.home / "settings.toml"
    before = file.read_text()
    server.start()
    try:
        with seat.up():
            added = seat.run("calendar", "add", "work", f"http://127.0.0.1:{server.port}/")
            assert added.code == 0, added.err
            assert "restart" not in added.err
            name = added.out.splitlines()[0]
            until(lambda: _calendars(seat) != {})
            assert seat.run("calendar", "mark", name).code == 0
            seat.run("calendar", "sync")
            assert _calendars(seat)[name]["marked"] is True

            file.write_text(before)
            until(lambda: str(_calendars(seat)[name]["why"] or "") != "")
    finally:
        server.stop()


def _calendars(seat: Terminal) -> dict[str, JsonMap]:
    found = cast("list[JsonMap]", seat.run("calendar", "ls", "--json").json["calendars"])
    return {str(each["name"]): each for each in found}


def test_recall_is_switched_on_and_off_while_remit_runs(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    assert seat.run("recall", "off").code == 0
    with seat.up():
        assert _recall(seat)["on"] is False
        assert seat.run("recall", "on").code == 0
        until(lambda: _recall(seat)["on"] is True)
        assert seat.run("recall", "off", "--json").json["on"] is False
        assert seat.run("recall", "on").code == 0  # before the file was looked at
        until(lambda: _recall(seat)["on"] is True)


def _recall(seat: Terminal) -> JsonMap:
    return seat.run("recall", "status", "--json").json
