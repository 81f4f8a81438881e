"""A worktree of its own for each task: what is in it, what counts of it, what a crash leaves."""

import asyncio
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

from remit.errors import BadInput, Conflict, NotFound
from remit.model.codec import from_json, to_json
from remit.specialist import worktree
from remit.specialist.changes import ChangeKind
from remit.specialist.tree import Worktree
from tests.specialist.repository import (
    OTHER,
    TASK,
    THEN,
    Shop,
    commit,
    git,
    repository,
    worktrees,
)


async def test_it_holds_the_base_under_the_home_and_reaches_nothing_of_the_owner(
    tmp_path: Path,
) -> None:
    owners = repository(tmp_path / "shop")
    git(owners, "remote", "add", "origin", "https://example.org/shop.git")
    tree = await worktrees(tmp_path).open(str(owners), TASK)

    assert Path(tree.folder).is_relative_to(tmp_path / "home")
    assert tree.base == git(owners, "rev-parse", "HEAD")
    assert (Path(tree.folder) / "app.py").read_text() == "x = 1\n"
    assert git(tree.folder, "branch", "--show-current") == f"remit/{TASK}"
    for words in (("status", "--porcelain"), ("remote",), ("branch", "--list", "main")):
        assert git(tree.folder, *words) == ""
    assert from_json(Worktree, to_json(tree)) == tree


async def test_the_owners_repository_is_not_touched(tmp_path: Path) -> None:
    before = _everything(repository(tmp_path / "before"))
    shop = await Shop.open(tmp_path)
    await shop.keep()
    await shop.trees.remove(shop.tree)

    assert _everything(shop.owners) == before


async def test_it_begins_from_the_commit_that_is_named(tmp_path: Path) -> None:
    owners, trees = repository(tmp_path / "shop"), worktrees(tmp_path)
    first = git(owners, "rev-parse", "HEAD")
    commit(owners, {"app.py": "x = 9\n"})

    tree = await trees.open(str(owners), TASK, first)

    assert (Path(tree.folder) / "app.py").read_text() == "x = 1\n"
    # A later open is of the same work, whatever the owner has done since.
    assert await trees.open(str(owners), TASK) == tree


@pytest.mark.parametrize("case", ["absent", "plain", "empty", "inner", "commit"])
async def test_what_is_no_repository_to_work_from_is_refused(tmp_path: Path, case: str) -> None:
    folder = tmp_path / "shop"
    base = None
    if case in ("plain", "empty"):
        folder.mkdir()
    if case == "empty":
        git(folder, "init", "--quiet")
    elif case == "inner":
        folder = repository(folder) / "tests"
    elif case == "commit":
        repository(folder)
        base = "--output=/dev/null"

    with pytest.raises((BadInput, NotFound)) as refused:
        await worktrees(tmp_path).open(str(folder), TASK, base)
    assert str(refused.value).endswith(".")


async def test_a_home_inside_the_checkout_is_refused(tmp_path: Path) -> None:
    repository(tmp_path / "shop")

    with pytest.raises(BadInput, match="cannot stand there"):
        await worktrees(tmp_path / "shop").open(str(tmp_path / "shop"), TASK)


async def test_two_tasks_of_one_repository_are_made_at_once(tmp_path: Path) -> None:
    owners, trees = repository(tmp_path / "shop"), worktrees(tmp_path)

    one, other = await asyncio.gather(trees.open(str(owners), TASK), trees.open(str(owners), OTHER))

    assert one.folder != other.folder
    assert one.repo == other.repo


# What counts --------------------------------------------------------------------------------------


async def test_every_kind_of_change_is_seen(tmp_path: Path) -> None:
    text = "\n".join(f"line {n}" for n in range(30))
    files = {"a.txt": "a\n", "gone.txt": "b\n", "old.txt": text, "same.txt": "s\n", "b.bin": "1"}
    shop = await Shop.open(tmp_path, {**files, ".gitignore": "*.pyc\n"})
    folder, before = shop.folder, await shop.look()
    (folder / "a.txt").write_text("changed\n")
    (folder / "gone.txt").unlink()
    (folder / "old.txt").rename(folder / "new.txt")
    (folder / "b.bin").write_bytes(bytes(range(256)))
    (folder / "häß lich\n.txt").write_text("new\n")
    (folder / "in").symlink_to("a.txt")
    (folder / "ignored.pyc").write_text("x")
    os.mkfifo(folder / "pipe")  # it stops nobody

    seen = await shop.look()

    assert (before.changes, before.diff) == ((), "")
    assert {(c.path, c.kind, c.was) for c in seen.changes} == {
        ("a.txt", ChangeKind.MODIFIED, None),
        ("gone.txt", ChangeKind.DELETED, None),
        ("new.txt", ChangeKind.RENAMED, "old.txt"),
        ("b.bin", ChangeKind.MODIFIED, None),
        ("häß lich\n.txt", ChangeKind.ADDED, None),
        ("in", ChangeKind.ADDED, None),
    }
    assert "old.txt" in seen.paths
    assert "+changed" in seen.diff
    assert "Binary files" in seen.diff
    assert seen.refused == ()
    assert seen.hashes["gone.txt"] == ""


async def test_what_a_specialist_committed_staged_or_hid_is_seen_all_the_same(
    tmp_path: Path,
) -> None:
    shop = await Shop.open(tmp_path, {f"{name}.txt": "1\n" for name in "abc"})
    git(shop.folder, "update-index", "--skip-worktree", "a.txt")
    git(shop.folder, "update-index", "--assume-unchanged", "b.txt")
    for name in "abc":
        (shop.folder / f"{name}.txt").write_text("2\n")
    git(shop.folder, "checkout", "--quiet", "-b", "elsewhere")
    commit(shop.folder, {"d.txt": "2\n"})
    git(shop.folder, "checkout", "--quiet", "--detach")

    assert (await shop.look()).paths == ("a.txt", "b.txt", "c.txt", "d.txt")


async def test_a_test_that_was_there_and_changed_is_named(tmp_path: Path) -> None:
    files = {"tests/test_a.py": "1\n", "tests/test_b.py": "2\n" * 20, "src/a.py": "1\n"}
    shop = await Shop.open(tmp_path, files)
    (shop.folder / "tests/test_a.py").write_text("")
    (shop.folder / "tests/test_b.py").rename(shop.folder / "b.py")
    (shop.folder / "tests/test_c.py").write_text("new\n")
    (shop.folder / "src/a.py").write_text("2\n")

    assert (await shop.look()).tests == ("tests/test_b.py", "tests/test_a.py")


@pytest.mark.parametrize(
    "target", ["/etc/passwd", "../../secret", "sub/../../x", ".git/config", ".GIT", "a/../.git"]
)
async def test_a_link_that_leads_out_is_refused(shop: Shop, target: str) -> None:
    (shop.folder / "link").symlink_to(target)

    seen = await shop.look()

    assert seen.refused == ("'link' is a link that leads out of the folder.",)
    with pytest.raises(Conflict, match="leads out"):
        await shop.trees.commit(shop.tree, seen, "Work", THEN)


@pytest.mark.parametrize("empty", [False, True])
async def test_a_repository_inside_is_refused_also_if_it_is_empty(
    shop: Shop, *, empty: bool
) -> None:
    if empty:
        (shop.folder / "inner").mkdir()
        git(shop.folder / "inner", "init", "--quiet")
        (shop.folder / "inner" / "a").write_text("a")
    else:
        repository(shop.folder / "inner")

    (why,) = (await shop.look()).refused

    assert "does not have a commit checked out" in why if empty else "of its own" in why


async def test_more_than_can_be_taken_over_is_not_even_read(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (shop.folder / "huge").open("wb") as file:
        file.truncate(10_000_000_000)
    with pytest.raises(Conflict, match="at most 200 MB"):
        await shop.look()

    monkeypatch.setattr(worktree, "MAX_CHANGED_FILES", 1)
    (shop.folder / "huge").write_text("small")
    (shop.folder / "more").write_text("small")
    with pytest.raises(Conflict, match="2 files changed"):
        await shop.look()


# Keeping it ---------------------------------------------------------------------------------------


async def test_a_commit_holds_exactly_what_was_seen_and_is_the_same_twice(shop: Shop) -> None:
    (shop.folder / "app.py").write_text("x = 2\n")
    seen = await shop.look()
    (shop.folder / "app.py").write_text("x = 3\n")

    made = await shop.trees.commit(shop.tree, seen, "Add two", THEN)

    assert made == await shop.trees.commit(shop.tree, seen, "Add two", THEN)
    assert git(shop.tree.repo, "show", f"{shop.tree.branch}:app.py") == "x = 2"
    about = git(shop.tree.repo, "log", "-1", "--format=%P %s", made)
    assert about == f"{shop.tree.base} Add two"


async def test_after_a_commit_the_folder_is_clean_and_comes_back_if_it_is_gone(shop: Shop) -> None:
    await shop.keep()
    clean = git(shop.tree.folder, "status", "--porcelain")
    seen = await shop.look()
    await asyncio.to_thread(shutil.rmtree, shop.folder)

    assert (clean, seen.paths) == ("", ("app.py",))
    assert await shop.reopen() == shop.tree
    assert (shop.folder / "app.py").read_text() == "x = 2\n"


async def test_removing_leaves_nothing_even_of_what_was_made_unwritable(
    shop: Shop, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "kept").write_text("kept")
    locked = shop.folder / "locked"
    locked.mkdir()
    (locked / "file").write_text("x")
    (locked / "out").symlink_to(tmp_path / "outside")
    locked.chmod(0)

    await shop.trees.remove(shop.tree)
    await shop.trees.remove(shop.tree)

    assert shop.beside == ["repo.git"]
    assert (tmp_path / "outside" / "kept").read_text() == "kept"
    assert git(shop.tree.repo, "branch", "--list") == ""
    assert (await shop.reopen()).base == shop.tree.base


# Crashes ------------------------------------------------------------------------------------------

_DIES = """
import asyncio, os, sys
from pathlib import Path
from remit.specialist.worktree import Worktrees
asyncio.run(Worktrees(Path(sys.argv[1]), os.environ).open(sys.argv[2], sys.argv[3]))
"""


@pytest.mark.parametrize("place", ["worktree", "worktree_made"])
async def test_one_that_was_half_made_when_the_power_went_is_made_whole(
    tmp_path: Path, place: str
) -> None:
    owners = repository(tmp_path / "shop")
    root = tmp_path / "home" / "worktrees"
    died = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _DIES, str(root), str(owners), TASK),
        env={**os.environ, "REMIT_FAILPOINT": f"{place}:1"},
    )
    assert await died.wait() == -signal.SIGKILL
    (repo,) = root.glob("*/repo.git")
    lock = repo / f"refs/heads/remit/{TASK}.lock"  # as a git that dies leaves it
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text("")

    trees = worktrees(tmp_path)
    tree = await trees.open(str(owners), TASK)

    assert (await trees.look(tree)).changes == ()
    assert (Path(tree.folder) / "app.py").read_text() == "x = 1\n"
    await trees.open(str(owners), OTHER)


async def test_a_half_made_repository_is_made_whole(shop: Shop, tmp_path: Path) -> None:
    half = Path(f"{shop.tree.repo}.half")
    shutil.move(shop.tree.repo, half)
    (half / "HEAD").write_text("")

    again = await worktrees(tmp_path).open(str(shop.owners), TASK)

    assert (await worktrees(tmp_path).look(again)).changes == ()


async def test_work_survives_the_process_that_made_the_folder(shop: Shop, tmp_path: Path) -> None:
    (shop.folder / "app.py").write_text("half")

    trees = worktrees(tmp_path)
    again = await trees.open(str(shop.owners), TASK)

    seen = [(each.path, each.kind) for each in (await trees.look(again)).changes]
    assert seen == [("app.py", ChangeKind.MODIFIED)]


def _everything(folder: Path) -> dict[str, bytes]:
    """Every file of a repository, also of git."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
