"""Worktrees of tasks that are over: the folder goes, and nothing that was worked on is lost."""

from pathlib import Path

import pytest

from remit.errors import Conflict
from remit.specialist import find_saved_work, worktree
from remit.specialist.tree import aside_folder
from remit.specialist.worktree import shelve
from tests.specialist.repository import OTHER, TASK, THEN, Shop, git


async def shelved(shop: Shop) -> str | None:
    return await shelve(shop.trees, shop.tree, THEN)


def root(shop: Shop) -> Path:
    return shop.folder.parents[1]


def fetched(shop: Shop) -> str:
    """The branch that the owner gets who does what he is told."""
    kept = find_saved_work(root(shop), TASK)
    assert kept is not None
    git(shop.owners, *kept.command.split()[1:])
    return kept.branch


async def test_what_was_not_committed_is_on_the_branch_when_the_folder_is_gone(shop: Shop) -> None:
    (shop.folder / "app.py").write_text("x = 2\n")
    (shop.folder / "new.py").write_text("y = 1\n")
    (shop.folder / "way").symlink_to("/etc/passwd")  # it may not be merged, and is kept
    aside_folder(shop.tree.folder).mkdir()

    assert await shelved(shop)

    assert shop.beside == ["repo.git"]
    branch = fetched(shop)
    assert git(shop.owners, "show", f"{branch}:app.py") == "x = 2"
    assert git(shop.owners, "show", f"{branch}:new.py") == "y = 1"
    assert git(shop.owners, "log", "--format=%s", "main") == "more"


async def test_what_was_kept_before_stays_the_very_commit(shop: Shop) -> None:
    assert await shop.keep() == await shelved(shop)


async def test_where_nothing_was_done_nothing_stays(shop: Shop) -> None:
    assert await shelved(shop) is None

    assert shop.beside == ["repo.git"]
    assert find_saved_work(root(shop), TASK) is None
    assert "remit/" not in git(shop.tree.repo, "--git-dir=.", "branch", "--list")


async def test_what_is_too_large_to_be_kept_is_left_standing(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worktree, "MAX_CHANGED_BYTES", 10)
    (shop.folder / "app.py").write_text("x = 2\n" * 10)

    with pytest.raises(Conflict, match="at most"):
        await shelved(shop)

    assert (shop.folder / "app.py").exists()


async def test_a_death_in_the_middle_loses_nothing(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(_: str) -> None:
        raise KeyboardInterrupt

    (shop.folder / "app.py").write_text("x = 2\n")
    with monkeypatch.context() as pulled:
        pulled.setattr("remit.specialist.worktree.failpoint", dies)
        with pytest.raises(KeyboardInterrupt):
            await shelved(shop)
    (found,) = await shop.trees.standing()
    first = git(shop.tree.repo, "--git-dir=.", "rev-parse", shop.tree.branch)

    assert await shelve(shop.trees, found, THEN) == first
    assert shop.beside == ["repo.git"]
    assert await shelve(shop.trees, found, THEN) == first


async def test_what_was_put_away_is_there_again_when_it_is_opened(shop: Shop) -> None:
    (shop.folder / "app.py").write_text("x = 2\n")
    await shelved(shop)

    assert await shop.reopen() == shop.tree
    assert (shop.folder / "app.py").read_text() == "x = 2\n"
    assert (await shop.look()).paths == ("app.py",)
    assert find_saved_work(root(shop), TASK) is None


async def test_all_that_stands_is_found_also_what_is_half_made(shop: Shop) -> None:
    other = shop.folder.with_name(OTHER)
    other.mkdir()
    shop.folder.with_name("notes.txt").write_text("not ours")

    found = {each.task_id: each for each in await shop.trees.standing()}

    assert {name: each.base for name, each in found.items()} == {TASK: shop.tree.base, OTHER: ""}
    assert await shelve(shop.trees, found[OTHER], THEN) is None
    assert not other.exists()
