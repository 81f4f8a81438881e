"""The app itself: its health, its backups, its journal, its completion scripts."""

import json
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from remit.cli.main import run
from remit.model.delivery import Accepted
from remit.store import deliveries
from remit.store.database import Params, Row
from remit.store.read_only import ReadOnlyFile
from tests.cli.terminal import Terminal
from tests.store.scene import BODY, DIGEST, Scene


def verdicts(seat: Terminal) -> dict[str, str]:
    checks = seat.run("doctor", "--json").maps("checks")
    return {str(each["part"]): str(each["verdict"]) for each in checks}


def test_a_healthy_app_is_told_part_by_part(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    seat.given("Later")
    with seat.up():
        said = seat.run("doctor")

    assert said.code == 0
    assert [line.split()[0] for line in said.out.splitlines()] == ["ok"] * 17
    assert "running, listens on http://127.0.0.1:" in said.out


def test_what_is_not_well_is_named_with_what_to_do(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    seat.given("Later")
    (seat.home / "brain.yml").unlink()
    seat.home.chmod(0o755)
    with (seat.home / "agent.db").open("r+b") as file:
        file.seek(5000)
        file.write(b"\xff" * 20000)
    said = seat.run("doctor")

    assert said.code == 1
    assert "chmod go=" in said.out
    assert verdicts(seat) | {"brain": "fail", "home": "warn", "database": "fail"} == verdicts(seat)


def test_bad_settings_are_named_by_the_doctor_and_stop_nothing_that_reads(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    (seat.home / "settings.toml").write_text("[brain]\nkin = 3\n")

    assert verdicts(seat)["settings"] == "fail"
    assert seat.run("ls").code == 0
    said = seat.run("add", "x")
    assert said.code == 2
    assert "Did you mean 'kind'?" in said.err


def test_a_backup_is_taken_while_remit_works_and_put_back_with_care(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    with seat.up():
        done = seat.add("Find two parks")
        seat.until(done, "completed")
        due = seat.add("something slow")
        seat.until(due, "running")
        saved = seat.run("backup", "--to", str(tmp_path / "safe"))
    later = seat.given("After the backup")[0]
    path = saved.out.strip()
    refused = seat.run("restore", path)
    restored = seat.run("restore", path, "--yes")

    assert saved.code == 0
    assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600
    assert refused.code == 2
    assert "say --yes" in refused.err
    assert restored.code == 0
    assert "1 task was paused: what was under way or due by now may have been done" in restored.out
    assert seat.status(done) == "completed"
    assert seat.status(due) == "paused"
    assert later not in seat.run("ls", "--ids").out


def test_on_a_terminal_a_restore_asks_and_no_is_no(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    (task,) = seat.given("Later")
    saved = str(seat.run("backup", "--json").json["backup"])
    said = seat.type(("restore", saved), ("n",))
    put_back = seat.type(("restore", saved), ("y",))

    assert said.code == 2
    assert "Nothing was changed." in said.out
    assert put_back.code == 0
    assert seat.status(task) == "paused"  # nobody can know what became of it since
    assert list(seat.home.glob("agent.replaced-*.db"))


def test_a_changed_byte_is_found_by_the_audit(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    seat.given("Later")
    before = seat.run("audit", "verify")
    with closing(sqlite3.connect(seat.home / "agent.db")) as connection:
        connection.execute("UPDATE tasks SET title = 'Sooner'")
        connection.commit()
    after = seat.run("audit", "verify", "--json")

    assert before.code == 0
    assert "as it was written: 1 event" in before.err
    assert after.code == 1
    assert "is not what was admitted" in after.out


def test_the_audit_raises_no_alarm_while_remit_writes_and_finds_a_change_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before each question of the audit Remit sends something and creates a task."""
    scene = Scene(tmp_path / "agent.db")
    claim = scene.delivering(*["whatsapp"] * 60)
    unsent, ask = iter(claim.task.delivery), ReadOnlyFile.all

    def ask_while_remit_works(tx: ReadOnlyFile, name: str, params: Params = ()) -> list[Row]:
        sends = next(unsent)
        attempt = scene.do(deliveries.claim_send, claim.lease, sends, BODY, DIGEST, scene.now)
        answer = Accepted(f"w-{attempt}")
        scene.do(deliveries.settle_send, claim.lease, sends, attempt, answer, scene.now)
        scene.ready()
        return ask(tx, name, params)

    monkeypatch.setenv("REMIT_HOME", str(tmp_path))
    monkeypatch.setattr(ReadOnlyFile, "all", ask_while_remit_works)
    for _ in range(3):
        assert run(("audit", "verify")) == 0, capsys.readouterr()
    assert scene.get(claim.task.id).delivery != claim.task.delivery
    scene.sql("UPDATE tasks SET title = 'Sooner' WHERE no = 1")
    assert run(("audit", "verify")) == 1
    scene.close()
    assert "put the newest backup in place" in capsys.readouterr().err


def test_logs_are_written_anew_from_the_journal(tmp_path: Path) -> None:
    seat = Terminal(tmp_path)
    task, other = seat.given("One", "Two")
    one = seat.run("audit", "log-rebuild", task)
    both = seat.run("audit", "log-rebuild", "--all", "--json")

    written = seat.home / "tasks" / "logs" / f"{task}.jsonl"
    assert one.out == f"{written}\n"
    assert json.loads(written.read_text())["title"] == "One"
    found = both.json["written"]
    assert isinstance(found, list)
    assert {Path(str(path)).stem for path in found} == {task, other}
