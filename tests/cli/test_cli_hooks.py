"""`remit hooks` and `remit doors`: made, called, listed, renewed and taken away."""

import asyncio
import json
import re
import tomllib
import urllib.error
import urllib.request
from pathlib import Path

from tests.channels.mail.mail_app import MailApp
from tests.channels.mail.mails import OWNER, mail_from
from tests.cli.terminal import Terminal


def called(url: str, secret: str, body: bytes = b"{}") -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    asked = urllib.request.Request(  # noqa: S310 - our own server
        f"{url}/hooks/in/shop", body, headers, method="POST"
    )
    try:
        with urllib.request.urlopen(asked, timeout=60) as answer:  # noqa: S310 - as above
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""


def test_a_hook_lives_from_its_making_to_its_end(  # noqa: PLR0915 - one life, step by step
    tmp_path: Path,
) -> None:
    seat = Terminal(tmp_path)
    none = seat.run("hooks")
    made = seat.run("hooks", "add", "shop", "--text", "Say what was ordered.", "--title", "/n")
    again = seat.run("hooks", "add", "shop")
    listed = seat.run("hooks")
    with seat.up() as up:
        url, secret = str(up.told["url"]), made.out.strip()
        status, told = called(url, secret, b'{"n": "Two lamps"}')
        renewed = seat.run("hooks", "rotate", "shop", "--json").json
        both = [called(url, each)[0] for each in (secret, str(renewed["secret"]))]
        came = seat.run("doors", "came", "--json").maps("cues")
        doors = seat.run("doors")
        started = seat.run("doors", "start", json.loads(told)["cue"], "--json")
        healthy = seat.run("doctor")
    gone = seat.run("hooks", "remove", "shop")
    missing = seat.run("hooks", "remove", "shop")

    assert "There is none" in none.err
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=\n", made.out)
    assert "/hooks/in/shop" in made.err
    assert again.code == 2
    assert re.search(r"shop +http\S+/hooks/in/shop +kept +60 +Say what was ordered", listed.out)
    assert secret not in listed.out + listed.err
    assert (status, both) == (202, [202, 202])
    assert (came[-1]["what"], came[-1]["fate"]) == ("Two lamps", "started")
    assert re.search(r"ok +hook shop: /hooks/in/shop; in a day \d started", doors.out)
    assert started.json["taskId"] == json.loads(told)["taskId"]
    assert "hook shop" in healthy.out
    assert "shop is gone" in gone.err
    assert missing.code == 3
    assert "[hooks.shop]" not in (seat.home / "settings.toml").read_text()


def test_a_hook_that_must_not_be_is_refused_and_one_taken_away_leaves_the_rest_of_the_file(
    tmp_path: Path,
) -> None:
    seat, mine = Terminal(tmp_path), "\n[server]  # mine\nport = 7399\n"
    none = seat.run("doors"), seat.run("doors", "came")
    seat.run("hooks", "add", "one")
    path = seat.home / "settings.toml"
    before = path.read_text()
    wrong = seat.run("hooks", "add", "My Shop")
    pointer = seat.run("hooks", "add", "shop", "--title", "name")
    unchanged = path.read_text()
    seat.run("hooks", "add", "two", "--text", 'Say "hi" [now].')
    path.write_text(path.read_text() + mine)

    assert seat.run("hooks", "remove", "two").code == 0
    assert (unchanged, path.read_text()) == (before, before + mine)
    assert (wrong.code, pointer.code) == (2, 2)
    assert "small letters" in wrong.err
    assert "/issue/title" in pointer.err
    assert "There is none" in none[0].err
    assert "Nothing came in yet" in none[1].err
    assert seat.run("doors", "start", "12345678").code == 3
    assert seat.run("doors", "came", "--limit", "0").code == 2


def test_a_door_that_lacks_something_says_what_to_do(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    seat.run("hooks", "add", "one")
    path = seat.home / "settings.toml"
    path.write_text(
        path.read_text()
        + '[hooks.lost]\nsecret = "never_set"\n'
        + '[channels.post]\nkind = "email"\nhost = "m.example.org"\nsender = "n@example.org"\n'
        + 'imap_host = "m.example.org"\nimap_user = "n"\nimap_password = "p"\n[doors.post]\n'
        + f'[folders.scans]\npath = "{tmp_path}/nowhere"\n'
    )
    said = seat.run("doors").out

    assert "lacks never_set: every call is refused" in said
    assert "remit hooks rotate lost" in said
    assert "not even you: authserv_id is not set" in said
    assert "is no folder" in said


def test_commands_that_change_the_settings_at_once_lose_nothing(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    names = [f"shop{n}" for n in range(5)]
    started = [seat.start("hooks", "add", name) for name in names]
    started.append(seat.start("brain", "use", "none"))
    for each in started:
        each.communicate(timeout=100)
    listed = tomllib.loads((seat.home / "settings.toml").read_text())

    assert sorted(listed["hooks"]) == names
    assert listed["brain"]["kind"] == "none"
    assert [path.name for path in seat.home.iterdir() if path.name.endswith(".new")] == []


async def test_a_mail_in_the_owner_s_name_that_is_not_believed_says_which_setting_would_help(
    tmp_path: Path,
) -> None:
    seat = Terminal(tmp_path)
    seat.home.mkdir(exist_ok=True)
    app = MailApp(seat.home)
    results = "mx7.mail.example; dmarc=pass header.from=example.test"
    async with app.world:
        await app.came(mail_from(OWNER, "Buy milk.", **{"Authentication-Results": results}))
        assert await app.tasks() == []
    doors = await asyncio.to_thread(seat.run, "doors")
    came = await asyncio.to_thread(seat.run, "doors", "came", "--json")

    assert "warn" in doors.out
    for each in (doors.out, came.out.replace("\\", "")):
        assert 'set authserv_id = "mail.example"' in " ".join(each.split())
