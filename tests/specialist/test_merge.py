"""Bringing work back: a step of its own that fits or is refused, and never does harm."""

from collections.abc import Callable
from pathlib import Path

import pytest

from remit.specialist import specialist_pool
from remit.specialist.specialist_pool import MergeResult
from tests.specialist.repository import THEN, Shop, commit, git


async def merged(shop: Shop, made: str) -> MergeResult:
    return await specialist_pool.merge(shop.trees, shop.tree, made, THEN)


async def test_work_on_the_newest_commit_moves_the_branch_forward_once(shop: Shop) -> None:
    made = await shop.keep()

    for _ in range(2):
        assert await merged(shop, made) == MergeResult("main")
    assert (shop.owners / "app.py").read_text() == "x = 2\n"
    assert git(shop.owners, "rev-parse", "main") == made
    assert git(shop.owners, "status", "--porcelain") == ""
    assert git(shop.owners, "for-each-ref", "--format=%(refname)") == "refs/heads/main"

    commit(shop.owners, {"later.py": "y = 1\n"})
    later = git(shop.owners, "rev-parse", "HEAD")
    assert await merged(shop, made) == MergeResult("main", joined=True)
    assert git(shop.owners, "rev-parse", "HEAD") == later


async def test_work_beside_the_owners_own_is_joined_with_it(shop: Shop) -> None:
    made = await shop.keep()
    commit(shop.owners, {"other.py": "y = 1\n"})
    head = git(shop.owners, "rev-parse", "HEAD")

    assert await merged(shop, made) == MergeResult("main", joined=True)
    assert git(shop.owners, "log", "-1", "--format=%P") == f"{head} {made}"
    assert (shop.owners / "app.py").read_text() == "x = 2\n"
    assert (shop.owners / "other.py").read_text() == "y = 1\n"


def _changed(owners: Path) -> None:
    commit(owners, {"app.py": "x = 7\n"})


def _dirty(owners: Path) -> None:
    (owners / "app.py").write_text("x = 5\n")


def _staged(owners: Path) -> None:
    (owners / "other.py").write_text("new\n")
    git(owners, "add", "other.py")


def _detached(owners: Path) -> None:
    git(owners, "checkout", "--quiet", "--detach")


def _rebasing(owners: Path) -> None:
    (owners / ".git" / "rebase-merge").mkdir()


def _unknown(owners: Path) -> None:
    (owners / "new.py").write_text("mine\n")


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_changed, "The work does not fit with what changed since (app.py); redo it."),
        (_dirty, "not committed (app.py); commit"),
        (_staged, "not committed (other.py)"),
        (_detached, "No branch is checked out"),
        (_rebasing, "A rebase is under way"),
        (_unknown, "new.py"),  # a file that git does not know is not overwritten
    ],
)
async def test_what_does_not_fit_is_refused_and_nothing_is_changed(
    shop: Shop, spoil: Callable[[Path], None], why: str
) -> None:
    def state() -> list[str]:
        files = [each.read_text() for each in sorted(shop.owners.glob("*.py"))]
        return [*files, git(shop.owners, "rev-parse", "HEAD"), git(shop.owners, "status", "-s")]

    made = await shop.keep(app="x = 2\n", new="theirs\n")
    spoil(shop.owners)
    before = state()

    refused = await merged(shop, made)

    assert not refused.branch
    assert why in refused.why
    assert state() == before


async def test_a_branch_can_be_handed_over_without_touching_the_checkout(shop: Shop) -> None:
    made = await shop.keep()

    name = await specialist_pool.publish(shop.trees, shop.tree)

    assert git(shop.owners, "rev-parse", name) == made
    assert (shop.owners / "app.py").read_text() == "x = 1\n"
    assert git(shop.owners, "branch", "--show-current") == "main"
