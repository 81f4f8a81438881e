"""Settings, contacts and rules of several machines: one version for all, in the store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from remit.store.postgres.database import SharedPostgres
from remit.testing import FrozenClock
from remit.wiring.shared_documents import SharedDocuments

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
