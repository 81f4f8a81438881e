"""Worktrees of tasks that are over: the folder goes, and nothing that was worked on is lost."""

import asyncio
from pathlib import Path

import pytest

from remit.errors import Conflict
from remit.specialist import where, worktree
from remit.specialist.tree import Worktree, aside
from remit.specialist.worktree import Worktrees, shelve
from tests.specialist.repository import OTHER, TASK, THEN, git, repository, worktrees


class Left:
    """A worktree with work in it that nobody took over."""

    def __init__(self, tmp_path: Path) -> None:
        self.repo = repository(tmp_path / "shop")
        self.trees: Worktrees = worktrees(tmp_path)
        self.root = tmp_path / "home/worktrees"
        self.tree: Worktree = asyncio.run(self.trees.open(str(self.repo), TASK))
        self.folder = Path(self.tree.folder)

    async def shelved(self) -> str | None:
        return await shelve(self.trees, self.tree, THEN)

    def fetched(self) -> str:
        """What the owner gets who does what he is told."""
        kept = where(self.root, TASK)
        assert kept is not None
        git(self.repo, *kept.command.split()[1:])
        return kept.branch

    @property
    def names(self) -> list[str]:
        return sorted(each.name for each in self.folder.parent.iterdir())


@pytest.fixture
def left(tmp_path: Path) -> Left:
    return Left(tmp_path)


async def test_what_was_not_committed_is_on_the_branch_when_the_folder_is_gone(left: Left) -> None:
    (left.folder / "app.py").write_text("x = 2\n")
    (left.folder / "new.py").write_text("y = 1\n")
    aside(left.tree.folder).mkdir()

    assert await left.shelved()

    assert left.names == ["repo.git"]
    branch = left.fetched()
    assert git(left.repo, "show", f"{branch}:app.py") == "x = 2"
    assert git(left.repo, "show", f"{branch}:new.py") == "y = 1"
    assert git(left.repo, "log", "--format=%s", "main") == "more"


async def test_what_was_kept_before_stays_the_very_commit(left: Left) -> None:
    (left.folder / "app.py").write_text("x = 2\n")
    seen = await left.trees.look(left.tree)
    kept = await left.trees.commit(left.tree, seen, "Make x two\n", THEN)

    assert await left.shelved() == kept


async def test_where_nothing_was_done_nothing_stays(left: Left) -> None:
    assert await left.shelved() is None

    assert left.names == ["repo.git"]
    assert where(left.root, TASK) is None
    assert "remit/" not in git(left.tree.repo, "--git-dir=.", "branch", "--list")


async def test_what_may_not_be_taken_over_is_kept_all_the_same(left: Left) -> None:
    (left.folder / "way").symlink_to("/etc/passwd")
    (left.folder / "app.py").write_text("x = 2\n")

    assert await left.shelved()

    assert git(left.repo, "show", f"{left.fetched()}:app.py") == "x = 2"


async def test_what_is_too_large_to_be_kept_is_left_standing(
    left: Left, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worktree, "MAX_CHANGED_BYTES", 10)
    (left.folder / "app.py").write_text("x = 2\n" * 10)

    with pytest.raises(Conflict, match="at most"):
        await left.shelved()

    assert (left.folder / "app.py").exists()


async def test_a_death_in_the_middle_loses_nothing(
    left: Left, monkeypatch: pytest.MonkeyPatch
) -> None:
    (left.folder / "app.py").write_text("x = 2\n")
    with monkeypatch.context() as pulled:
        pulled.setattr("remit.specialist.worktree.failpoint", _dies)
        with pytest.raises(KeyboardInterrupt):
            await left.shelved()
    (found,) = await left.trees.standing()
    first = git(left.tree.repo, "--git-dir=.", "rev-parse", left.tree.branch)

    again = await shelve(left.trees, found, THEN)

    assert again == first
    assert left.names == ["repo.git"]
    assert await shelve(left.trees, found, THEN) == first


def _dies(_: str) -> None:
    raise KeyboardInterrupt


async def test_what_was_put_away_is_there_again_when_it_is_opened(left: Left) -> None:
    (left.folder / "app.py").write_text("x = 2\n")
    await left.shelved()

    tree = await left.trees.open(str(left.repo), TASK)

    assert (left.folder / "app.py").read_text() == "x = 2\n"
    assert (await left.trees.look(tree)).paths == ("app.py",)
    assert where(left.root, TASK) is None


async def test_all_that_stands_is_found_also_what_is_half_made(left: Left) -> None:
    other = left.folder.with_name(OTHER)
    other.mkdir()
    left.folder.with_name("notes.txt").write_text("not ours")

    found = {each.task_id: each.base for each in await left.trees.standing()}

    assert found == {TASK: left.tree.base, OTHER: ""}
    (half,) = [each for each in await left.trees.standing() if each.task_id == OTHER]
    assert await shelve(left.trees, half, THEN) is None
    assert not other.exists()
