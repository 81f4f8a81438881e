"""Taught files: changed whole or not at all, every text kept, and each change taken back."""

from pathlib import Path
from typing import Final

import pytest

from remit.errors import BadInput, Conflict
from remit.model.ids import TaskId
from remit.model.likeness import FileVersion, LessonFile, changes_in_force
from remit.model.run import EventKind
from remit.reflect.versions import MAX_CHARACTERS, LessonVersions, digest
from remit.store import events, reflections
from remit.store.reflections import LessonChange
from remit.testing import START, World
from tests.reflect.learning import guidelines, world

FILE: Final = LessonFile.GUIDELINES


def versions(app: World) -> LessonVersions:
    return LessonVersions(app.app.settings.home, app.app.db, app.clock, lambda _: "default\n")


def change(was: str, now: str, key: str) -> LessonChange:
    return LessonChange(
        key=key,
        file=FILE,
        was=digest(was),
        digest=digest(now),
        why=f"{key} was learned",
        by="owner",
        task_id=TaskId("task-1"),
    )


async def put(kept: LessonVersions, text: str, key: str) -> None:
    await kept.change(change(kept.text(FILE), text, key), text)


async def told(app: World) -> list[object]:
    found = await app.app.db.read(events.list_after, 0, 1000)
    return [event.data["why"] for event in found if event.kind is EventKind.RULES_CHANGED]


async def test_a_change_is_in_the_journal_once_and_its_texts_are_kept(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        kept = versions(app)
        assert kept.text(FILE) == "default\n"
        await put(kept, "one\n", "a")
        before = change("default\n", "one\n", "a")
        await kept.change(before, "one\n")  # done again after a crash

        (version,) = await kept.history()
        assert await told(app) == ["a was learned"]
        assert kept.read_earlier(FILE, version.was) == "default\n"
        assert kept.read_earlier(FILE, version.digest) == "one\n"
    assert guidelines(tmp_path) == "one\n"
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "rules/versions").iterdir()}
    assert modes == {0o600}


async def test_a_crash_between_the_journal_and_the_file_is_made_good(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        kept = versions(app)
        said = change("default\n", "one\n", "a")
        assert await app.app.db.write(reflections.change, said, START)  # and then it died
        assert guidelines(tmp_path) == ""
        await kept.change(said, "one\n")

        assert len(await kept.history()) == 1
    assert guidelines(tmp_path) == "one\n"


async def test_changes_are_taken_back_one_after_the_other(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        kept = versions(app)
        await put(kept, "one\n", "a")
        await put(kept, "one\ntwo\n", "b")
        first = await kept.revert("r1")
        assert (first.reverts, guidelines(tmp_path)) == (2, "one\n")
        second = await kept.revert("r2")
        assert (second.reverts, guidelines(tmp_path)) == (1, "default\n")
        with pytest.raises(Conflict, match="Nothing is to be taken back"):
            await kept.revert("r3")

        assert changes_in_force(await kept.history()) == ()
        assert (await told(app))[-1] == "change 1 was taken back"


async def test_what_was_written_by_hand_is_not_lost_unless_that_is_said(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        kept = versions(app)
        await put(kept, "one\n", "a")
        (tmp_path / "guidelines.txt").write_text("one\nby hand\n")
        with pytest.raises(Conflict, match="--force"):
            await kept.revert("r")
        assert guidelines(tmp_path) == "one\nby hand\n"
        back = await kept.revert("r", force=True)

        assert kept.read_earlier(FILE, back.was) == "one\nby hand\n"
    assert guidelines(tmp_path) == "default\n"


async def test_an_older_change_is_taken_back_only_by_name_and_by_force(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        kept = versions(app)
        await put(kept, "one\n", "a")
        await put(kept, "one\ntwo\n", "b")
        with pytest.raises(Conflict, match="changed since change 1"):
            await kept.revert("r", 1)
        with pytest.raises(Conflict, match="no change 9 that holds"):
            await kept.revert("r", 9)
        await kept.revert("r", 1, force=True)
    assert guidelines(tmp_path) == "default\n"


async def test_a_kept_text_that_was_tampered_with_is_not_put_back(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        kept = versions(app)
        await put(kept, "one\n", "a")
        for path in (tmp_path / "rules/versions").iterdir():
            path.write_text("forward everything\n")
        with pytest.raises(Conflict, match="not as it was kept"):
            await kept.revert("r")
        for path in (tmp_path / "rules/versions").iterdir():
            path.unlink()
        with pytest.raises(Conflict, match="cannot be read"):
            await kept.revert("r")
    assert guidelines(tmp_path) == "one\n"


async def test_a_link_stays_a_link_and_a_mode_stays_a_mode(tmp_path: Path) -> None:
    elsewhere = tmp_path / "dotfiles.txt"
    elsewhere.write_text("mine\n")
    elsewhere.chmod(0o640)
    async with world(tmp_path) as app:
        (tmp_path / "guidelines.txt").symlink_to(elsewhere)
        await put(versions(app), "mine\none\n", "a")

    assert (tmp_path / "guidelines.txt").is_symlink()
    assert (elsewhere.read_text(), elsewhere.stat().st_mode & 0o777) == ("mine\none\n", 0o640)


async def test_a_file_that_cannot_be_read_is_said_in_a_sentence(tmp_path: Path) -> None:
    async with world(tmp_path) as app:
        (tmp_path / "guidelines.txt").write_bytes(b"\xff")
        with pytest.raises(BadInput, match="cannot be read"):
            versions(app).text(FILE)
        (tmp_path / "guidelines.txt").write_text("x" * (MAX_CHARACTERS + 1))
        with pytest.raises(BadInput, match="too long"):
            versions(app).text(FILE)
        (tmp_path / "guidelines.txt").write_bytes(b"a\r\nb\r\n")
        assert versions(app).text(FILE) == "a\r\nb\r\n"


def test_what_took_something_back_does_not_hold_itself() -> None:
    def made(no: int, reverts: int | None = None) -> FileVersion:
        return FileVersion(
            no=no, file=FILE, was="", digest="", why="", by="", made_at=START, reverts=reverts
        )

    known = (made(1), made(2), made(3, 2), made(4))
    assert [each.no for each in changes_in_force(known)] == [1, 4]
