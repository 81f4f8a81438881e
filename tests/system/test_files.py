"""Files are replaced whole, by one at a time; locks by key go when nobody needs them."""

import asyncio
import os
import threading
from pathlib import Path

import pytest

from remit.settings import sections
from remit.system.background import LocksByKey
from remit.system.files import locked, write_atomic


def test_a_reader_sees_the_old_file_or_the_new_one_and_never_a_part(tmp_path: Path) -> None:
    path, ends = tmp_path / "settings.toml", threading.Event()
    texts = {letter * 200_000 for letter in "ab"}
    write_atomic(path, "a" * 200_000)
    seen: set[str] = set()

    def read() -> None:
        while not ends.is_set():
            seen.add(path.read_text())

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(100):
        for text in texts:
            write_atomic(path, text, durable=False)
    ends.set()
    reader.join()

    assert seen <= texts
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("call", ["fsync", "fchmod"])
def test_a_write_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("[a]\n")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(OSError, match="No space"):
        sections.rewrite(path, lambda text: text + "[b]\n")

    assert path.read_text() == "[a]\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_is_private_an_old_one_keeps_its_mode_and_a_link_stays_one(
    tmp_path: Path,
) -> None:
    path, link = tmp_path / "dotfiles.toml", tmp_path / "settings.toml"
    write_atomic(path, b"a")
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    link.symlink_to(path)

    sections.rewrite(link, lambda text: text + "b")

    assert link.is_symlink()
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("ab", 0o640)


def test_two_who_change_one_file_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"

    def add(letter: str) -> None:
        for _ in range(50):
            sections.rewrite(path, lambda text: text + letter)

    threads = [threading.Thread(target=add, args=(letter,)) for letter in "abc"]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert sorted(path.read_text()) == sorted("abc" * 50)


def test_a_lock_makes_the_folder_it_needs(tmp_path: Path) -> None:
    with locked(tmp_path / "home"):
        assert (tmp_path / "home").stat().st_mode & 0o777 == 0o700


async def test_a_lock_by_key_lasts_as_long_as_somebody_holds_it_or_waits() -> None:
    locks: LocksByKey[str] = LocksByKey()
    inside, most = dict.fromkeys("ab", 0), 0

    async def work(key: str) -> None:
        nonlocal most
        async with locks[key]:
            inside[key] += 1
            assert inside[key] == 1
            most = max(most, len(locks))
            for _ in range(3):
                await asyncio.sleep(0)
            inside[key] -= 1

    async with asyncio.TaskGroup() as group:
        for key in "ab" * 10:
            group.create_task(work(key))

    assert (most, len(locks)) == (2, 0)
