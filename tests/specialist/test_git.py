"""Nothing in a repository makes git run anything: not the owner's, not what a specialist left."""

import os
import shutil
import stat
from pathlib import Path

import pytest

from remit.errors import Permanent, Transient
from remit.specialist.specialist_pool import merge
from remit.system.git import Git, GitLocation
from tests.specialist.repository import TASK, THEN, Shop, commit, git, repository, worktrees

HOOKS = (
    *("applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-checkout", "post-commit"),
    *("post-index-change", "post-merge", "pre-auto-gc", "pre-commit", "pre-merge-commit"),
    *("prepare-commit-msg", "reference-transaction", "update", "pre-receive", "post-rewrite"),
)
SETTINGS = (
    *("core.fsmonitor", "core.sshCommand", "core.editor", "core.pager", "core.askPass"),
    *("core.alternateRefsCommand", "credential.helper", "gpg.program", "diff.external"),
    *("diff.evil.command", "diff.evil.textconv", "filter.evil.clean", "filter.evil.smudge"),
    *("filter.evil=odd.process", "merge.evil.driver", "alias.status", "pager.status"),
    *("uploadpack.packObjectsHook", "interactive.diffFilter", "sequence.editor"),
)
ATTRIBUTES = "*.py filter=evil diff=evil merge=evil\n*.txt filter=evil=odd\n"


def trap(tmp_path: Path) -> tuple[Path, Path]:
    """A program that must not run, and the file that says that it did."""
    mark, program = tmp_path / "ran", tmp_path / "trap"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {mark}\ncat\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program, mark


def rig(git_dir: Path, program: Path) -> None:
    """Have git run the program wherever a repository may have a say."""
    for name in HOOKS:
        (git_dir / "hooks").mkdir(exist_ok=True)
        (git_dir / "hooks" / name).write_text(program.read_text())
        (git_dir / "hooks" / name).chmod(0o755)
    for name in SETTINGS:
        section, _, key = name.rpartition(".")
        first, _, inner = section.partition(".")
        head = f'[{first} "{inner}"]' if inner else f"[{first}]"
        with (git_dir / "config").open("a") as file:
            file.write(f"{head}\n\t{key} = {program}\n")
    with (git_dir / "config").open("a") as file:
        file.write("[commit]\n\tgpgSign = true\n")


@pytest.mark.parametrize("only", ["hooks", "config"])
def test_the_trap_works(tmp_path: Path, only: str) -> None:
    program, mark = trap(tmp_path)
    owners = repository(tmp_path / "shop")
    config = (owners / ".git" / "config").read_text()
    rig(owners / ".git", program)
    if only == "hooks":
        (owners / ".git" / "config").write_text(config)
    else:
        shutil.rmtree(owners / ".git" / "hooks")
    (owners / "app.py").write_text("x = 3\n")

    git(owners, "add", "--all")

    assert mark.exists()


async def test_the_owners_repository_runs_nothing_from_open_to_merge(tmp_path: Path) -> None:
    program, mark = trap(tmp_path)
    owners = repository(tmp_path / "shop", {"app.py": "x = 1\n", ".gitattributes": ATTRIBUTES})
    rig(owners / ".git", program)
    trees = worktrees(tmp_path)
    shop = Shop(owners, trees, await trees.open(str(owners), TASK))
    (shop.folder / "a.txt").write_text("b\n")

    merged = await merge(trees, shop.tree, await shop.keep(), THEN)
    commit(shop.folder, {"app.py": "x = 3\n"})  # as a specialist commits

    assert merged.branch == "main", merged
    assert (owners / "app.py").read_text() == "x = 2\n"
    assert not mark.exists(), mark.read_text()


async def test_a_merge_of_two_sides_runs_nothing_either(tmp_path: Path) -> None:
    program, mark = trap(tmp_path)
    text = "\n".join(f"y{n} = {n}" for n in range(20))
    shop = await Shop.open(tmp_path, {"app.py": text, ".gitattributes": ATTRIBUTES})
    made = await shop.keep(app=f"{text}\nlast = 1\n")
    commit(shop.owners, {"app.py": f"first = 1\n{text}"})
    rig(shop.owners / ".git", program)

    assert (await merge(shop.trees, shop.tree, made, THEN)).branch == "main"
    assert (shop.owners / "app.py").read_text() == f"first = 1\n{text}\nlast = 1\n"
    assert not mark.exists(), mark.read_text()


@pytest.mark.parametrize("how", ["common", "folder", "dir", "link"])
async def test_what_a_specialist_left_for_git_runs_nothing(tmp_path: Path, how: str) -> None:
    program, mark = trap(tmp_path)
    shop = await Shop.open(tmp_path, {"app.py": "x = 1\n", ".gitattributes": ATTRIBUTES})
    dot_git = shop.folder / ".git"
    if how == "common":
        rig(Path(shop.tree.repo), program)
    else:
        evil = repository(tmp_path / "evil")
        rig(evil / ".git", program)
        dot_git.unlink()
        if how == "folder":
            dot_git.write_text(f"gitdir: {evil}/.git\n")
        elif how == "link":
            dot_git.symlink_to(evil / ".git")
        else:
            (evil / ".git").rename(dot_git)

    await shop.keep()

    assert await shop.reopen() == shop.tree
    assert (await shop.look()).paths == ("app.py",)
    assert not mark.exists(), mark.read_text()


async def test_a_submodule_that_a_specialist_filled_runs_nothing(tmp_path: Path) -> None:
    program, mark = trap(tmp_path)
    inner, owners = repository(tmp_path / "inner"), repository(tmp_path / "shop")
    added = ("submodule", "add", "--quiet", str(inner), "sub")
    git(owners, "-c", "protocol.file.allow=always", *added)
    commit(owners, {})
    trees = worktrees(tmp_path)
    shop = Shop(owners, trees, await trees.open(str(owners), TASK))
    untouched = await shop.look()
    sub = shop.folder / "sub"
    git(shop.folder, "clone", "--quiet", str(inner), str(sub))
    rig(sub / ".git", program)
    # A filter under a name of its own is one that no list of ours can know.
    (sub / ".gitattributes").write_text(ATTRIBUTES)
    (sub / "app.py").write_text("x = 2\n")
    (shop.folder / "app.py").write_text("x = 2\n")

    seen = await shop.look()

    assert (untouched.changes, untouched.refused) == ((), ())
    assert seen.paths == ("app.py",)
    assert seen.refused == ("'sub' is a repository of its own; only files are taken over.",)
    assert not mark.exists(), mark.read_text()


async def test_what_ties_folder_and_repository_together_is_mended(
    shop: Shop, tmp_path: Path
) -> None:
    program, mark = trap(tmp_path)
    evil = repository(tmp_path / "evil")
    rig(evil / ".git", program)
    ties = Path(shop.tree.repo, "worktrees", TASK)
    (ties / "commondir").write_text(f"{evil}/.git\n")
    (ties / "HEAD").write_text("ref: refs/heads/main\n")
    (shop.folder / ".git").write_text(f"gitdir: {evil}/.git\n")

    assert (await shop.look()).changes == ()

    assert git(shop.folder, "rev-parse", "--git-dir") == str(ties)
    assert git(shop.folder, "branch", "--show-current") == shop.tree.branch
    assert not mark.exists(), mark.read_text()


# Calls --------------------------------------------------------------------------------------------


async def test_a_call_that_fails_says_where_and_why(tmp_path: Path) -> None:
    owners = str(repository(tmp_path / "shop"))
    for environ, folder, words, why in (
        (os.environ, owners, "cat-file -p nowhere", r"git cat-file failed in .*shop: .*nowhere"),
        (os.environ, f"{owners}/gone", "status", "gone is not there"),
        ({"PATH": owners}, owners, "status", "git is not installed"),
    ):
        with pytest.raises(Permanent, match=why):
            await Git(environ).ok(GitLocation(folder), *words.split())


async def test_a_call_that_does_not_end_is_ended(tmp_path: Path) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "git").chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"

    with pytest.raises(Transient, match=r"took longer than 0\.1 s"):
        await Git({"PATH": path}, limit=0.1).ok(GitLocation(str(tmp_path)), "status")
