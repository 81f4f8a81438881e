"""Machines are upgraded one by one: meanwhile two versions of Remit work on one store."""

import io
import subprocess
import tarfile
import time
from pathlib import Path

import pytest

from remit.store.postgres.schema import migrations
from tests.live.providers import Providers
from tests.machines import history
from tests.machines.fleet import Fleet
from tests.machines.load import Load, wait_for_rest
from tests.machines.temporal import TemporalServer
from tests.soak import only_in_soak
from tests.store.postgres import Postgres

ROOT = Path(__file__).parents[2]
MIGRATIONS = "src/remit/store/postgres/migrations"
SECONDS_TOGETHER = 5  # after each change of a machine


@only_in_soak
@pytest.mark.timeout(1200)
def test_an_upgrade_machine_by_machine_loses_and_doubles_nothing(
    tmp_path: Path, own_postgres: Postgres, temporal: TemporalServer, providers: Providers
) -> None:
    before = _code_before_the_newest_migration(tmp_path / "before")
    ports = [providers.office.port, *(each.port for each in providers.phones)]
    fleet = Fleet(tmp_path, own_postgres, temporal, providers.settings(), ports)
    with fleet.closing():
        fleet.start("serve", "serve", "worker", "worker", PYTHONPATH=before)
        with Load(fleet, seed=5) as load:
            for kind in ("worker", "serve", "worker", "serve"):
                time.sleep(SECONDS_TOGETHER)
                fleet.stop(kind)
                fleet.start(kind)
                fleet.start("worker", PYTHONPATH=before)  # it can also begin on the newer schema
                time.sleep(SECONDS_TOGETHER)
                fleet.stop("worker", -1)
        client = fleet.client()

        events = wait_for_rest(client)

        wrong = list(history.complaints(events, providers.accepted, over=True))
        assert not wrong, history.about(events, " ".join(wrong))
        created = {each.data["title"] for each in events if each.kind == "task.created"}
        assert set(load.titles) <= created
        assert len(load.titles) > SECONDS_TOGETHER, "there was something to do"
        assert fleet.seat.run("audit", "verify").code == 0


def _code_before_the_newest_migration(folder: Path) -> str:
    """Unpack the newest version that had one migration less."""
    newest = f"{MIGRATIONS}/{len(migrations()):04}_*.sql"
    added = _git("log", "-1", "--diff-filter=A", "--format=%H", "--", newest).decode().strip()
    if not added:
        pytest.skip("There is no history of git here, so no version before.")
    packed = io.BytesIO(_git("archive", f"{added}^", "src"))
    with tarfile.open(fileobj=packed) as archive:
        archive.extractall(folder, filter="data")
    found = len(list((folder / MIGRATIONS).glob("*.sql")))
    assert found == len(migrations()) - 1
    return str(folder / "src")


def _git(*words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=False).stdout
