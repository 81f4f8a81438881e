"""Code work goes on where another machine left it: its folder is copied into the database."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from remit.errors import StoreTrouble
from remit.model.status import Status
from remit.model.task import Task
from remit.specialist import work_copies
from remit.specialist.tree import Worktree
from remit.specialist.work_copies import WorkCopies
from remit.specialist.worktree import Worktrees
from remit.store.postgres import machines as copies_verbs
from remit.store.postgres.database import Postgres
from tests.specialist.repository import THEN, commit, git, repository, worktrees
from tests.store.postgres import Postgres as Server
from tests.store.scene import PostgresScene


class TwoMachines:
    """Two machines with homes of their own, and one repository of the owner at the same path."""

    def __init__(self, tmp_path: Path, db: Postgres, task: Task) -> None:
        self.task = task
        self.shop = repository(tmp_path / "shop")
        self.db = db
        self._machines = [worktrees(tmp_path / name) for name in ("ada", "ben")]

    @property
    def trees(self) -> Worktrees:
        return self._machines[0]

    @property
    def copies(self) -> WorkCopies:
        return WorkCopies(self.trees, self.db)

    async def open(self) -> Worktree:
        return await self.trees.open(str(self.shop), self.task.id)

    def change_machine(self) -> None:
        self._machines.reverse()

    async def found(self, tree: Worktree) -> Worktree:
        here = await self.copies.find_here(tree)
        assert here is not None
        return here

    async def leave(self, tree: Worktree, **files: str) -> None:
        for name, text in files.items():
            (Path(tree.folder) / f"{name}.py").write_text(text)
        await self.copies.copy_folder(self.task, tree, THEN)


@pytest.fixture
def scene(postgres_server: Server) -> Iterator[PostgresScene]:
    scene = PostgresScene(postgres_server.store)
    yield scene
    scene.close()
    postgres_server.wipe()


@asynccontextmanager
async def _two_machines(scene: PostgresScene, tmp_path: Path) -> AsyncIterator[TwoMachines]:
    db = Postgres(scene.url)
    try:
        yield TwoMachines(tmp_path, db, scene.standing(Status.RUNNING))
    finally:
        await db.close()


async def test_another_machine_goes_on_with_what_was_left(
    scene: PostgresScene, tmp_path: Path
) -> None:
    async with _two_machines(scene, tmp_path) as both:
        tree = await both.open()
        await both.leave(tree, app="x = 2\n", new="y = 1\n")
        left = await both.trees.look(tree)
        both.change_machine()

        elsewhere, tree = tree, await both.found(tree)
        assert tree.folder != elsewhere.folder
        assert (Path(tree.folder) / "app.py").read_text() == "x = 2\n"
        seen = await both.trees.look(tree)
        assert (seen.tree, seen.paths) == (left.tree, ("app.py", "new.py"))
        kept = await both.trees.commit(tree, seen, "Work", THEN)
        assert git(tree.folder, "rev-parse", f"{kept}^") == tree.base


async def test_an_older_folder_is_replaced_by_what_was_done_elsewhere(
    scene: PostgresScene, tmp_path: Path
) -> None:
    async with _two_machines(scene, tmp_path) as both:
        first = await both.open()
        await both.leave(first, app="x = 2\n")
        both.change_machine()
        tree = await both.found(first)
        await both.leave(tree, app="x = 3\n")
        both.change_machine()
        assert (Path(first.folder) / "app.py").read_text() == "x = 2\n"

        tree = await both.found(tree)
        assert (Path(tree.folder) / "app.py").read_text() == "x = 3\n"


async def test_what_was_done_here_since_the_last_copy_stays(
    scene: PostgresScene, tmp_path: Path
) -> None:
    async with _two_machines(scene, tmp_path) as both:
        tree = await both.open()
        await both.leave(tree, app="x = 2\n")
        (Path(tree.folder) / "app.py").write_text("x = 'by the owner'\n")

        tree = await both.found(tree)
        assert (Path(tree.folder) / "app.py").read_text() == "x = 'by the owner'\n"


async def test_a_machine_without_the_base_cannot_go_on(
    scene: PostgresScene, tmp_path: Path
) -> None:
    async with _two_machines(scene, tmp_path) as both:
        commit(both.shop, {"app.py": "x = 9\n"})
        tree = await both.open()
        await both.leave(tree, app="x = 2\n")
        both.change_machine()
        git(both.shop, "reset", "--quiet", "--hard", "HEAD^")
        git(both.shop, "reflog", "expire", "--expire=now", "--all")
        git(both.shop, "gc", "--quiet", "--prune=now")

        assert await both.copies.find_here(tree) is None


async def test_a_machine_that_lost_the_task_replaces_no_copy(
    scene: PostgresScene, tmp_path: Path
) -> None:
    async with _two_machines(scene, tmp_path) as both:
        tree = await both.open()
        await both.leave(tree, app="x = 2\n")
        before = scene.do(copies_verbs.get_work_copy, both.task.id)
        scene.sql("UPDATE tasks SET lease = lease + 1 WHERE id = ?", both.task.id)
        await both.leave(tree, app="x = 3\n")

        assert before
        assert scene.do(copies_verbs.get_work_copy, both.task.id) == before


async def test_a_copy_that_could_not_be_stored_is_stored_with_the_next_look(
    scene: PostgresScene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _two_machines(scene, tmp_path) as both:
        tree = await both.open()
        with monkeypatch.context() as away:
            away.setattr(both.db, "write", _no_answer)
            with pytest.raises(StoreTrouble):
                await both.leave(tree, app="x = 2\n")
        await both.leave(tree)
        both.change_machine()

        tree = await both.found(tree)
        assert (Path(tree.folder) / "app.py").read_text() == "x = 2\n"


async def _no_answer(*_: object) -> None:
    raise StoreTrouble("The server does not answer.")


async def test_copies_of_ended_tasks_are_forgotten(scene: PostgresScene, tmp_path: Path) -> None:
    async with _two_machines(scene, tmp_path) as both:
        done = scene.standing(Status.COMPLETED)
        copy = copies_verbs.WorkCopy("0" * 40, b"bundle")
        scene.do(copies_verbs.put_work_copy, done.id, done.lease, copy)
        assert scene.do(copies_verbs.get_work_copy, done.id) == copy

        await both.leave(await both.open(), app="x = 2\n")
        assert scene.do(copies_verbs.get_work_copy, done.id) is None
        assert scene.do(copies_verbs.get_work_copy, both.task.id)


async def test_a_copy_that_is_too_large_is_left_out(
    scene: PostgresScene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _two_machines(scene, tmp_path) as both:
        tree = await both.open()
        await both.leave(tree, app="x = 2\n")
        monkeypatch.setattr(work_copies, "MAX_COPY_BYTES", 10)
        await both.leave(tree, app="x = 3\n")

        assert scene.do(copies_verbs.get_work_copy, both.task.id) is None, (
            "an older one would be wrong"
        )
        assert await both.copies.find_here(tree) == tree, "here it goes on"
        both.change_machine()
        assert await both.copies.find_here(tree) is None
