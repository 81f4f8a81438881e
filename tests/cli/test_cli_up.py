"""`remit up` and `remit service`: started, stopped, killed, started twice, and by systemd."""

import json
import os
import signal
import stat
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from remit.store.home import lock
from tests.cli.terminal import LIMIT, Terminal, never_read


def test_the_first_start_makes_a_home_with_settings_that_explain_themselves(
    tmp_path: Path,
) -> None:
    seat = Terminal(tmp_path, script=None, fresh=True)
    seat.home.rmdir()
    with seat.up() as up:
        assert up.told["event"] == "up"
        assert up.told["brain"] == "auto"
        assert json.loads((seat.home / "server.json").read_text())["url"] == up.told["url"]
    assert stat.S_IMODE(seat.home.stat().st_mode) == 0o700
    assert '# kind = "auto"' in (seat.home / "settings.toml").read_text()
    assert seat.run("doctor").code == 0


def test_it_says_where_it_listens_and_what_happens_then_stops_in_good_order(
    tmp_path: Path,
) -> None:
    seat = Terminal(tmp_path, fresh=True)
    (left,) = seat.given("Find two parks")
    process = seat.start("up", "--port", "0")
    seat.until(left, "completed")
    asks = seat.add("My passport", "--work", "Look")
    seat.until(asks, "needs_review")
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=LIMIT)

    assert process.returncode == 0
    assert "http://127.0.0.1:" in err
    assert "scripted" in err
    assert "1 to come" in err
    assert "Find two parks: completed. Lumphini Park and Benjakitti Park." in out
    assert "My passport: Which passport do you hold?" in out
    assert "Traceback" not in err
    assert not (seat.home / "server.json").exists()


def test_a_second_one_in_the_same_home_leaves_with_75_and_a_port_that_is_taken_is_named(
    tmp_path: Path,
) -> None:
    seat, other = Terminal(tmp_path), tmp_path / "other"
    other.mkdir()
    (task,) = Terminal(other).given("Find two parks")
    with seat.up() as up:
        said = seat.run("up", "--json")
        assert said.code == 75
        assert f"process {up.process.pid}" in said.err
        assert said.json["exit"] == 75
        taken = str(up.told["url"]).rpartition(":")[2]
        assert seat.run("up", "--port", taken).code == 75  # not only that the port is taken
        named = Terminal(other).run("up", "--port", taken)
        assert seat.run("restore", str(seat.home / "brain.yml"), "--yes").code == 75

    assert (named.code, f"Port {taken} is taken" in named.err) == (2, True)
    assert Terminal(other).status(task) == "new"


def test_one_that_is_killed_is_followed_by_one_that_goes_on(tmp_path: Path) -> None:
    seat = Terminal(tmp_path, fresh=True)
    with seat.up() as up:
        slow = seat.add("something slow")
        seat.until(slow, "running")
        up.kill()
    (seat.home / "brain.yml").write_text("- reply: <deliverable>Faster now.</deliverable>\n")
    with seat.up() as up:
        assert up.told["pickedUp"] == 1
        seat.until(slow, "completed")
    assert "The process died here (crash 1)" in seat.run("log", slow).out


def test_a_stop_parks_what_runs_and_a_second_signal_stops_at_once(tmp_path: Path) -> None:
    seat = Terminal(tmp_path, fresh=True)
    (seat.home / "settings.toml").write_text('[brain]\nkind = "scripted"\n')  # patient again
    with seat.up() as up:
        slow = seat.add("something slow")
        seat.until(slow, "running")
        up.process.send_signal(signal.SIGINT)
        assert up.process.stderr is not None
        assert "Once more stops at once" in up.process.stderr.readline()
        up.process.send_signal(signal.SIGINT)
        assert up.process.wait(LIMIT) == 130


def test_a_stop_ends_though_a_thread_hangs(tmp_path: Path) -> None:
    seat = Terminal(tmp_path, fresh=True)
    settings = seat.home / "settings.toml"
    settings.write_text('[brain]\nkind = "scripted"\n[engine]\nstop_limit = 1\n')
    with seat.up() as up, never_read(settings):
        up.process.send_signal(signal.SIGINT)
        assert up.process.wait(LIMIT) == 130


def test_settings_with_an_endless_key_are_refused_and_hold_up_nothing(tmp_path: Path) -> None:
    seat = Terminal(tmp_path, fresh=True)
    with seat.up() as up:
        (seat.home / "settings.toml").write_text(".".join("a" * 50_000) + " = 1\n")
        assert up.process.stderr is not None
        assert "a key of over 32 parts" in up.process.stderr.readline()
        up.process.send_signal(signal.SIGINT)
        assert up.process.wait(LIMIT) == 0


def test_a_remit_that_holds_the_home_but_does_not_answer_is_6(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    (task,) = seat.given("Later")
    with seat.up():
        (seat.home / "token").write_text("wrong")
        unknown = seat.run("pause", task, "--json")
    told = {"url": "http://127.0.0.1:9", "pid": os.getpid()}
    (seat.home / "server.json").write_text(json.dumps(told))
    with lock(seat.home):
        begun = time.monotonic()
        said, read = seat.run("pause", task, "--json"), seat.run("ls", "--ids")
        waited = time.monotonic() - begun

    assert (said.code, unknown.code) == (6, 6)
    assert "does not answer" in said.err
    assert waited > 5  # it might have been starting
    assert read.out == f"{task}\n"
    assert unknown.maps("problems")[0]["type"] == "urn:remit:problem:unauthorized"


def test_remit_starts_after_a_kill_though_a_short_command_holds_the_home(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    with seat.up() as killed:
        killed.kill()  # it leaves behind where it listened
    with lock(seat.home):
        process = seat.start("up", "--port", "0", "--json")
        with suppress(subprocess.TimeoutExpired):
            process.wait(4)
    assert process.stdout is not None
    up = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT)
    assert "url" in json.loads(up or "{}")


def test_a_log_is_followed_until_the_task_has_ended(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    with seat.up():
        task = seat.add("Find two parks", "--to", "Anna")
        follower = seat.start("log", "-f", task, "--json")
        seat.until(task, "needs_review")
        seat.run("approve", task)
        out, _ = follower.communicate(timeout=LIMIT)

    told = [json.loads(line) for line in out.splitlines()]
    assert follower.returncode == 0
    assert [line["turnNumber"] for line in told] == list(range(1, len(told) + 1))
    assert told[-1]["data"]["to"] == "completed"


def test_who_stops_waiting_leaves_with_130_and_the_task_stays(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    waiting = seat.start("add", "something slow", "--wait")
    assert waiting.stderr is not None
    while "Started" not in waiting.stderr.readline():
        assert waiting.poll() is None
    found = seat.only()
    waiting.send_signal(signal.SIGINT)
    _, err = waiting.communicate(timeout=LIMIT)

    assert waiting.returncode == 130
    assert "Traceback" not in err
    assert seat.status(found) == "running"
    assert "Its process was stopped" in seat.run("log", found).out


# With systemd -------------------------------------------------------------------------------------


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path, script=None)


def test_the_unit_is_written_as_systemd_wants_it_and_removed(
    terminal: Terminal, tmp_path: Path
) -> None:
    config = str(tmp_path / "a config")
    unit = tmp_path / "a config/systemd/user/remit.service"

    said = terminal.run(
        "service", "install", XDG_CONFIG_HOME=config, OPENAI_API_KEY="sk-1234567890"
    )
    text = unit.read_text()
    verified = subprocess.run(
        ["systemd-analyze", "--user", "verify", str(unit)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)},
    )
    status = terminal.run("service", XDG_CONFIG_HOME=config)
    removed = terminal.run("service", "remove", XDG_CONFIG_HOME=config)

    assert f"REMIT_HOME={terminal.home}" in text
    assert " up\n" in text
    assert "remit.service" not in verified.stderr, verified.stderr
    assert "a service does not see that" in said.err
    assert str(unit) in status.out
    assert removed.code == 0
    assert not unit.exists()
    again = terminal.run("service", "remove", XDG_CONFIG_HOME=config)
    assert "nothing is installed" in again.err
    without = terminal.run("service", "install", XDG_CONFIG_HOME=config, PATH=str(tmp_path))
    assert (without.code, "There is no systemd here" in without.err) == (2, True)
    assert not unit.exists()
