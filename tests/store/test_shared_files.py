"""What several machines share beside tasks: files, settings, contacts, and equal secrets."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from remit.channels.registry import ChannelSecrets
from remit.errors import StoreTrouble
from remit.settings import Settings
from remit.store.postgres import machines
from remit.store.postgres.database import SharedPostgres
from remit.store.postgres.files import StoredFiles
from remit.store.secrets import Secrets
from remit.testing import FrozenClock
from remit.wiring.shared_documents import SharedDocuments, SharedSecrets

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


# Files --------------------------------------------------------------------------------------------


def test_a_file_of_one_machine_is_read_on_another_and_removed_on_both(
    url: str, tmp_path: Path
) -> None:
    here, there = StoredFiles(tmp_path / "here", url), StoredFiles(tmp_path / "there", url)
    file = here.keep("prices.csv", b"apples,3\n")
    assert here.keep("again.csv", b"apples,3\n").sha256 == file.sha256

    assert there.read(file.sha256) == b"apples,3\n"
    assert (there.folder / file.sha256).exists(), "a copy: it is fetched once"
    assert there.read("0" * 64) is None
    assert there.read("../secrets") is None
    assert there.room() == (1, 9)

    now = datetime.now(UTC)  # noqa: TID251 - the database's clock says when it was kept
    assert here.sweep({file.sha256}, (), now + 2 * DAY) == 0
    assert here.sweep((), {file.sha256}, now) == 0, "it may be on its way into a new task"
    assert there.read(file.sha256) == b"apples,3\n"
    assert here.sweep((), {file.sha256}, now + 2 * HOUR) == 1
    assert there.sweep((), {file.sha256}, now + 2 * HOUR) == 0
    assert (here.read(file.sha256), there.read(file.sha256)) == (None, None)


def test_a_damaged_copy_is_fetched_again_and_files_from_before_are_put_into_the_database(
    url: str, tmp_path: Path
) -> None:
    here, there = StoredFiles(tmp_path / "here", url), StoredFiles(tmp_path / "there", url)
    file = here.keep("notes.txt", b"whole\n")
    (here.folder / file.sha256).write_bytes(b"torn")
    assert here.read(file.sha256) == b"whole\n"

    with psycopg.connect(url, autocommit=True) as server:
        server.execute("DELETE FROM file_contents")
    assert there.read(file.sha256) is None
    here.sweep({file.sha256}, (), datetime.now(UTC))  # noqa: TID251 - as above
    assert there.read(file.sha256) == b"whole\n"


def test_a_database_that_is_away_is_no_lost_file(tmp_path: Path) -> None:
    away = StoredFiles(tmp_path, f"postgresql://nobody@/none?host={tmp_path}")
    with pytest.raises(StoreTrouble, match="cannot be reached"):
        away.read("0" * 64)
    with pytest.raises(StoreTrouble, match="cannot be reached"):
        away.keep("notes.txt", b"words")


# Secrets ------------------------------------------------------------------------------------------


def machine(db: SharedPostgres, home: Path, environ: dict[str, str], *, name: str) -> SharedSecrets:
    home.mkdir(exist_ok=True)
    keys = ChannelSecrets(Secrets(home), environ)
    made = SharedSecrets(db, FrozenClock(), Settings(home=home), keys)
    made._place = name
    return made


async def test_a_process_with_another_secret_or_none_is_named_and_no_value_is_stored(
    url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    db, now = SharedPostgres(url, process_clock=True), FrozenClock().now()
    Secrets(tmp_path).put("smtp_password", "correct horse")
    environ = {"ANTHROPIC_API_KEY": "sk-ant-1"}
    one = machine(db, tmp_path, environ, name="a:1")
    two = machine(db, tmp_path, environ, name="b:2")
    for each in (one, two):
        await each.compare()
    assert await db.read(machines.differing_secrets, now) == ()

    other = tmp_path / "other"
    three = machine(db, other, {"ANTHROPIC_API_KEY": "sk-ant-2"}, name="c:3")
    Secrets(other).put("calendar_own", "from when it worked alone")
    await three.compare()
    found = await db.read(machines.differing_secrets, now)
    assert [each.sentence for each in found] == [
        "ANTHROPIC_API_KEY has another value on c:3; on a:1, b:2 it is set.",
        "smtp_password has no value on c:3; on a:1, b:2 it is set.",
    ]
    assert found[1].todo.startswith("Run `remit secrets set smtp_password`")
    assert "smtp_password has no value on c:3" in caplog.text

    Secrets(other).put("smtp_password", "correct horse")
    three._keys.environ["ANTHROPIC_API_KEY"] = "sk-ant-1"  # type: ignore[index]
    await three.compare()
    assert await db.read(machines.differing_secrets, now) == ()
    with psycopg.connect(url) as server:
        stored = str(server.execute("SELECT * FROM secret_fingerprints").fetchall())
    await db.close()
    assert "correct" not in stored
    assert "sk-ant" not in stored


async def test_a_renewed_access_token_is_no_difference_and_who_is_silent_is_forgotten(
    url: str, tmp_path: Path
) -> None:
    db, clock = SharedPostgres(url, process_clock=True), FrozenClock()
    homes = tmp_path / "here", tmp_path / "there"
    for home, access in zip(homes, ("access-1", "access-2"), strict=True):
        home.mkdir()
        Secrets(home).put("mail", f"refresh-token {access} 1790000000")
        await machine(db, home, {}, name=home.name).compare()
    assert await db.read(machines.differing_secrets, clock.now()) == ()

    Secrets(homes[1]).put("mail", "another-refresh access-2 1790000000")
    await machine(db, homes[1], {}, name="there").compare()
    (found,) = await db.read(machines.differing_secrets, clock.now())
    later = await db.read(machines.differing_secrets, clock.now() + HOUR)
    await db.close()
    assert found.sentence == "mail has another value on there; on here it is set."
    assert later == ()


# Settings, contacts and rules ---------------------------------------------------------------------

GOOD, BETTER, BAD = 'zone = "UTC"\n', 'zone = "Europe/Berlin"\n', "zone = 7\n"


class Machine:
    def __init__(self, db: SharedPostgres, home: Path) -> None:
        home.mkdir()
        self._home = home
        self.documents = SharedDocuments(db, FrozenClock(), home)

    async def share(self) -> None:
        for _ in range(2):  # a file may be half written: two looks must agree
            await self.documents.share()

    def write(self, text: str, name: str = "settings.toml") -> None:
        (self._home / name).write_text(text)

    def read(self, name: str = "settings.toml") -> str | None:
        return (self._home / name).read_text() if (self._home / name).exists() else None


@asynccontextmanager
async def two_machines(url: str, folder: Path) -> AsyncIterator[tuple[Machine, Machine]]:
    db = SharedPostgres(url, process_clock=True)
    try:
        yield Machine(db, folder / "here"), Machine(db, folder / "there")
    finally:
        await db.close()


async def test_files_of_the_first_machine_are_imported_and_a_change_anywhere_reaches_all(
    url: str, tmp_path: Path
) -> None:
    async with two_machines(url, tmp_path) as (here, there):
        here.write(GOOD)
        here.write("contacts: []\n", "contacts.yaml")
        await here.share()
        await there.share()
        assert (there.read(), there.read("contacts.yaml")) == (GOOD, "contacts: []\n")

        there.write(BETTER)
        await there.documents.share()
        await here.share()
        assert here.read() == GOOD  # it may be half written
        await there.share()
        await here.share()
        assert here.read() == BETTER

        there.write("Be brief.\n", "guidelines.txt")
        await there.share()
        await here.share()
        assert here.read("guidelines.txt") == "Be brief.\n"


async def test_what_cannot_be_read_is_not_given_to_others(url: str, tmp_path: Path) -> None:
    async with two_machines(url, tmp_path) as (here, there):
        here.write(GOOD)
        await here.share()
        await there.share()
        here.write(BAD)
        await here.share()
        await there.share()

        assert (here.read(), there.read()) == (BAD, GOOD)


async def test_of_two_changes_at_once_one_is_in_use_and_the_other_is_kept(
    url: str, tmp_path: Path
) -> None:
    async with two_machines(url, tmp_path) as (here, there):
        here.write(GOOD)
        await here.share()
        await there.share()
        here.write(BETTER)
        there.write(GOOD + "# mine\n")
        await here.share()
        await there.share()

        assert (here.read(), there.read()) == (BETTER, BETTER)
        assert there.read("settings.toml.mine") == GOOD + "# mine\n"


async def test_a_machine_that_comes_with_other_files_takes_those_of_the_store(
    url: str, tmp_path: Path
) -> None:
    async with two_machines(url, tmp_path) as (here, there):
        here.write(GOOD)
        there.write(BETTER)
        await here.share()
        await there.share()

        assert (here.read(), there.read()) == (GOOD, GOOD)
        assert there.read("settings.toml.mine") == BETTER
