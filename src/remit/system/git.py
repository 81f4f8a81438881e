"""The one place that runs git, so that nothing in a repository can run a program.

A repository may name programs: hooks, a file monitor, filters, diff and merge drivers, credential
helpers, a signer, an editor, a pager, an alias, a remote helper. None of them runs: git gets a
fixed environment, every such setting is overridden on each call, and in the owner's repository also
those that only its configuration can name.
"""

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from remit.errors import Permanent, Transient
from remit.system.process import kill_group

_TIMEOUT_SECONDS: Final = 600.0  # seconds for one call
_EMPTY_FILE: Final = "/dev/null"
_FAILING_PROGRAM: Final = "false"  # a program that fails

# What holds for every call, whatever a repository says.
_FORCED_SETTINGS: Final = {
    "core.hooksPath": _EMPTY_FILE,
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.sshCommand": _FAILING_PROGRAM,
    "core.gitProxy": "",
    "core.askPass": _FAILING_PROGRAM,
    "core.editor": _FAILING_PROGRAM,
    "core.pager": "cat",
    "core.attributesFile": _EMPTY_FILE,
    "core.excludesFile": _EMPTY_FILE,
    "core.alternateRefsCommand": _FAILING_PROGRAM,
    "core.quotePath": "false",
    "sequence.editor": _FAILING_PROGRAM,
    "credential.helper": "",
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "push.gpgSign": "false",
    "gpg.program": _FAILING_PROGRAM,
    "gpg.ssh.program": _FAILING_PROGRAM,
    "gpg.x509.program": _FAILING_PROGRAM,
    "merge.verifySignatures": "false",
    "diff.external": "",
    "diff.ignoreSubmodules": "all",
    "interactive.diffFilter": "",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "fetch.writeCommitGraph": "false",
    "protocol.allow": "never",
    "protocol.file.allow": "always",
    "safe.bareRepository": "explicit",
    "advice.addEmbeddedRepo": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
}
_ENVIRON: Final = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": _EMPTY_FILE,
    "GIT_CONFIG_GLOBAL": _EMPTY_FILE,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": _FAILING_PROGRAM,
    "SSH_ASKPASS": _FAILING_PROGRAM,
    "GIT_SSH_COMMAND": _FAILING_PROGRAM,
    "GIT_EDITOR": _FAILING_PROGRAM,
    "GIT_SEQUENCE_EDITOR": _FAILING_PROGRAM,
    "GIT_PAGER": "cat",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ALLOW_PROTOCOL": "file",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_AUTHOR_NAME": "Remit",
    "GIT_AUTHOR_EMAIL": "remit@localhost",
    "GIT_COMMITTER_NAME": "Remit",
    "GIT_COMMITTER_EMAIL": "remit@localhost",
    "HOME": _EMPTY_FILE,
    "XDG_CONFIG_HOME": _EMPTY_FILE,
    "LC_ALL": "C.UTF-8",
}
# Programs that are named under a word of the repository's own, so nobody knows them beforehand.
_PROGRAM_SETTING: Final = re.compile(
    r"(filter\..*\.(?:clean|smudge|process|required)|merge\..*\.driver|diff\..*\.(?:command|textconv)"
    r"|credential\..*\.helper|remote\..*\.(?:uploadpack|receivepack|vcs|proxy)|pager\..*"
    r"|submodule\..*\.update|(?:difftool|mergetool|browser|man)\..*\.(?:cmd|path))",
    re.IGNORECASE | re.DOTALL,
)
_OFF_VALUES: Final = {"required": "false", "update": "none"}


class GitLocation(Struct, frozen=True):
    """The repository of a call: found from a folder, or named."""

    folder: str
    git_dir: str | None = None
    work_tree: str | None = None
    index: str | None = None
    overruled: tuple[tuple[str, str], ...] = ()

    @property
    def environ(self) -> dict[str, str]:
        names = {
            "GIT_DIR": self.git_dir,
            "GIT_WORK_TREE": self.work_tree,
            "GIT_INDEX_FILE": self.index,
        }
        found = {name: value for name, value in names.items() if value is not None}
        # A folder that is no repository must not count as part of the one around it.
        return {"GIT_CEILING_DIRECTORIES": os.path.dirname(self.folder), **found}  # noqa: PTH120


class GitResult(Struct, frozen=True):
    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode("utf-8", "surrogateescape").strip()


class Git:
    def __init__(self, environ: Mapping[str, str], limit: float = _TIMEOUT_SECONDS) -> None:
        self._path = environ.get("PATH", os.defpath)
        self._limit = limit

    async def run(
        self,
        where: GitLocation,
        *words: str,
        stdin: bytes = b"",
        also: Mapping[str, str] | None = None,
    ) -> GitResult:
        """Run git; whatever code it ends with is told."""
        environ = safe_environ(self._path, where.overruled) | where.environ
        try:
            process = await asyncio.create_subprocess_exec(
                "git",
                *words,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=where.folder,
                env=environ | dict(also or {}),
                start_new_session=True,
            )
        except FileNotFoundError:
            there = await asyncio.to_thread(os.path.isdir, where.folder)
            what = "git is not installed" if there else f"{where.folder} is not there"
            raise Permanent(f"git cannot be run: {what}.") from None
        return await self._finish(process, words[0], stdin)

    async def ok(
        self,
        where: GitLocation,
        *words: str,
        stdin: bytes = b"",
        also: Mapping[str, str] | None = None,
    ) -> str:
        """Run git and return its output, stripped. Raises if it fails."""
        result = await self.run(where, *words, stdin=stdin, also=also)
        if result.code:
            why = " ".join(result.err.split())[-300:] or f"exit code {result.code}"
            raise Permanent(f"git {words[0]} failed in {where.folder}: {why}")
        return result.text

    async def guarded(self, folder: str) -> GitLocation:
        """Return a foreign repository with every configured program disabled."""
        where = GitLocation(folder)
        listed = await self.run(where, "config", "--list", "--name-only", "-z", "--includes")
        names = listed.out.decode("utf-8", "surrogateescape").split("\0")
        named = sorted({name for name in names if _PROGRAM_SETTING.fullmatch(name)})
        off = [(name, _OFF_VALUES.get(name.rpartition(".")[2].lower(), "")) for name in named]
        return GitLocation(folder, overruled=tuple(off))

    async def _finish(
        self, process: asyncio.subprocess.Process, word: str, stdin: bytes
    ) -> GitResult:
        try:
            async with asyncio.timeout(self._limit):
                out, err = await process.communicate(stdin)
        except TimeoutError:
            raise Transient(f"git {word} took longer than {self._limit:g} s.") from None
        finally:
            # Also after a cancel: nothing of it may go on and hold a lock.
            await kill_group(process)
        return GitResult(process.returncode or 0, out, err.decode("utf-8", "replace"))


def safe_environ(path: str, overruled: Sequence[tuple[str, str]] = ()) -> dict[str, str]:
    """The whole environment for git: no program and no setting of a repository gets through."""
    # As variables neither the name nor the value of a setting can be read as more than it is.
    config = (*_FORCED_SETTINGS.items(), *overruled)
    environ = _ENVIRON | {"PATH": path, "GIT_CONFIG_COUNT": str(len(config))}
    for n, (key, value) in enumerate(config):
        environ |= {f"GIT_CONFIG_KEY_{n}": key, f"GIT_CONFIG_VALUE_{n}": value}
    return environ
