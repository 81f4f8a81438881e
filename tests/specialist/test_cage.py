"""The sandbox around a program that works for us: what a hostile one tries, and cannot do."""

import asyncio
import os
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from remit.errors import BadInput
from remit.model.reply import AttemptOutcome, SpecialistClaim, SpecialistJob
from remit.settings import Settings
from remit.settings.projects import SpecialistKind, SpecialistSettings
from remit.specialist import specialist_health
from remit.specialist.abstract_sockets import can_hide
from remit.specialist.process import (
    CommandSpecialist,
    ProgramSandbox,
    SandboxPermissions,
    SpecialistProgram,
    program_environ,
    sandbox_home,
)
from remit.system.process import find_program
from remit.verify.project_files import Toolchain
from remit.wiring.brain_parts import _leave
from tests.engine.rig import until
from tests.specialist.repository import TASK, git, repository, worktrees
from tests.specialist.test_command import nobody
from tests.tables import for_each

SECRET = "sk-live-0123456789"


def sees(program: str) -> Sequence[Path] | None:
    tools = Toolchain(Path("/nowhere"), os.environ)
    found = tools.find(program)
    if found is None:
        return None
    return (found, found.resolve(), *(each.folder for each in tools.needed_folders(found)))


class Yard:
    """A worktree, a home of the owner's, and one program that may be told anything."""

    def __init__(self, tmp_path: Path) -> None:
        self.home = tmp_path / "owner"
        (self.home / ".ssh").mkdir(parents=True)
        (self.home / ".ssh/id").write_text(SECRET)
        self.tmp = tmp_path
        self.heard: list[str] = []
        self.repo = repository(tmp_path / "shop")
        self.trees = worktrees(tmp_path)
        self.tree = asyncio.run(self.trees.open(str(self.repo), TASK))

    async def runs(
        self,
        code: str,
        leave: SandboxPermissions = SandboxPermissions(),  # noqa: B008
        **named: str,
    ) -> SpecialistClaim:
        return await self.starts((sys.executable, "-c", code), leave, **named)

    async def starts(
        self, argv: tuple[str, ...], leave: SandboxPermissions, **named: str
    ) -> SpecialistClaim:
        whole = {**os.environ, "HOME": str(self.home), "API_KEY": SECRET, **named}
        cage = ProgramSandbox("tool", leave, home=self.home, sees=sees)
        program = SpecialistProgram("tool", argv, program_environ(whole, tuple(named)), wrap=cage)
        job = SpecialistJob(TASK, "Do it.", self.tree.folder, time_limit=120)
        return await CommandSpecialist(program).work(job, self._hear, nobody)

    async def _hear(self, text: str) -> None:
        self.heard.append(text)


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return Yard(tmp_path)


_TRY = """
import os, sys
from pathlib import Path
for place in {places!r}:
    try:
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        Path(place).write_text("mine now")
        print("wrote", place)
    except OSError as error:
        print("refused", place, error.strerror)
print([place for place in ("/", "/etc", "/usr/bin", "/usr/lib") if os.access(place, os.W_OK)])
Path("app.py").write_text("x = 2\\n")
"""


async def test_it_writes_its_worktree_and_nothing_else_of_the_machine(yard: Yard) -> None:
    outside = (
        yard.repo / "app.py",
        yard.repo / ".git/hooks/pre-commit",
        yard.tmp / "home/agent.db",
        Path(yard.tree.repo) / "refs/heads/remit/other",
        Path(yard.tree.repo) / "objects/aa/bb",
        Path(yard.tree.repo) / "worktrees/other/HEAD",
        Path(yard.tree.folder).parent / "task-01JZ8Q4Y7N8WZ0V5T3K2M1P9RB/app.py",
        yard.home / ".bashrc",
        yard.home / ".ssh/id",
    )
    before = {each: each.read_bytes() if each.is_file() else None for each in outside}

    claim = await yard.runs(_TRY.format(places=[str(each) for each in outside]))

    assert claim.outcome is AttemptOutcome.SUCCESS, claim
    assert claim.text.splitlines()[-1] == "[]"
    assert {each: each.read_bytes() if each.is_file() else None for each in outside} == before
    assert (Path(yard.tree.folder) / "app.py").read_text() == "x = 2\n"
    assert (await yard.trees.look(yard.tree)).paths == ("app.py",)


async def test_a_link_out_of_the_worktree_leads_nowhere(yard: Yard) -> None:
    victim = yard.home / ".ssh/id"
    code = f"import os; os.symlink({str(victim)!r}, 'way'); open('way', 'w').write('mine')"

    claim = await yard.runs(code)

    assert claim.outcome is AttemptOutcome.CRASH
    assert victim.read_text() == SECRET


async def test_a_secret_of_the_environment_is_not_there_unless_it_was_named(yard: Yard) -> None:
    code = (
        "import os, glob\n"
        "print(sorted(os.environ))\n"
        "for each in glob.glob('/proc/[0-9]*/environ') + glob.glob('/proc/[0-9]*/cmdline'):\n"
        "    print(open(each, 'rb').read())\n"
    )
    named = "import os; print([open(f'/proc/{n}/cmdline').read() for n in (1, 2)])"

    claim = await yard.runs(code)
    lent = await yard.runs(f"{named}; print(os.environ['TOKEN'])", TOKEN="tweet")

    assert "API_KEY" not in claim.text
    assert SECRET not in claim.text
    assert lent.text.endswith("]\ntweet")
    assert lent.text.count("tweet") == 1, "it stands in no command line"


async def test_nothing_of_the_home_or_of_other_work_can_be_read(yard: Yard) -> None:
    (yard.tmp / "home/agent.db").write_text(SECRET)
    other = Path(yard.tree.folder).with_name("task-01JZ8Q4Y7N8WZ0V5T3K2M1P9RB")
    other.mkdir()
    (other / "plan.md").write_text(SECRET)
    hidden = [yard.home / ".ssh/id", yard.tmp / "home/agent.db", other / "plan.md", yard.repo]
    code = f"import os; print([os.path.exists(p) for p in {[str(p) for p in hidden]!r}])"

    claim = await yard.runs(code)

    assert claim.text == str([False] * 4)


async def test_the_network_is_not_there_unless_it_is_lent(
    yard: Yard, served: Callable[[], tuple[int, list[bytes]]]
) -> None:
    port, got = served()
    code = (
        "import socket\n"
        f"line = socket.create_connection(('127.0.0.1', {port}), timeout=20)\n"
        "line.sendall(b'all your code')\nline.shutdown(1)\nline.recv(1)\nprint('sent')"
    )

    denied = await yard.runs(code)
    lent = await yard.runs(code, SandboxPermissions(network=True))

    assert denied.outcome is AttemptOutcome.CRASH
    assert "sent" not in denied.text
    assert (lent.text, got) == ("sent", [b"all your code"])


async def test_with_a_network_the_sockets_of_the_machine_are_hidden_or_doctor_says_so(
    yard: Yard,
) -> None:
    name = f"remit-test-{os.getpid()}"
    code = (
        "import socket\n"
        "own = socket.socket(socket.AF_UNIX); own.bind('\\0own'); own.listen()\n"
        "socket.socket(socket.AF_UNIX).connect('\\0own'); print('own reached')\n"
        f"socket.socket(socket.AF_UNIX).connect('\\0{name}'); print('host reached')"
    )
    with socket.socket(socket.AF_UNIX) as line:
        line.bind(f"\0{name}")
        line.listen()
        claim = await yard.runs(code, SandboxPermissions(network=True))

    bwrap = find_program("bwrap")
    assert bwrap is not None
    chosen = SpecialistSettings(kind=SpecialistKind.COMMAND, argv=("sed",), network=True)
    (seen,) = specialist_health.specialists({"sed": chosen}, "/usr/bin:/bin")
    assert "own reached" in claim.text
    if can_hide(bwrap):
        assert claim.outcome is AttemptOutcome.CRASH
        assert "host reached" not in claim.text
        assert "abstract Unix sockets" not in seen.whole
    else:
        assert "host reached" in claim.text
        assert "abstract Unix sockets" in seen.whole


@pytest.fixture
def served() -> Callable[[], tuple[int, list[bytes]]]:
    """A server on loopback that keeps what it is sent, one call after the other."""

    def begin() -> tuple[int, list[bytes]]:
        line = socket.create_server(("127.0.0.1", 0))
        got: list[bytes] = []

        def hear() -> None:
            with line:
                peer, _ = line.accept()
                with peer:
                    got.append(peer.makefile("rb").read())

        threading.Thread(target=hear, daemon=True).start()
        return line.getsockname()[1], got

    return begin


async def test_what_is_lent_to_be_read_cannot_be_written_unless_it_is_lent_for_that(
    yard: Yard,
) -> None:
    (yard.home / ".tool").mkdir()
    (yard.home / ".tool/login").write_text("who I am")
    code = (
        "import pathlib\nlogin = pathlib.Path.home() / '.tool/login'\nprint(login.read_text())\n"
        "try: login.write_text('kept')\nexcept OSError as error: print(error.strerror)\n"
        "open('new.py', 'w').write('x')"
    )

    # What is lent may lie around the work.
    read = await yard.runs(code, SandboxPermissions(reads=(yard.home / ".tool", yard.tmp)))
    written = await yard.runs(code, SandboxPermissions(writes=(yard.home / ".tool",)))

    assert read.text == "who I am\nRead-only file system"
    assert read.outcome is AttemptOutcome.SUCCESS, read
    assert written.text == "who I am"
    assert (yard.home / ".tool/login").read_text() == "kept"


async def test_its_home_is_its_own_stays_for_the_task_and_goes_with_it(yard: Yard) -> None:
    await yard.runs("import pathlib; (pathlib.Path.home() / 'session').write_text('one')")
    again = await yard.runs("import pathlib; print((pathlib.Path.home() / 'session').read_text())")
    await yard.trees.remove(yard.tree)

    assert again.text == "one"
    assert sorted(each.name for each in yard.home.iterdir()) == [".ssh"]
    left = [each.name for each in Path(yard.tree.folder).parent.iterdir()]
    assert left == ["repo.git"]


async def test_git_works_inside_and_ends_there(yard: Yard) -> None:
    code = (
        "import subprocess as s\n"
        "def git(*words): print(s.run(['git', *words], capture_output=True, text=True,"
        " check=True).stdout.strip())\n"
        "open('app.py', 'w').write('x = 2\\n')\n"
        "git('status', '--short')\n"
        "git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qam', 'mine')\n"
        "git('log', '--format=%s')\n"
        "git('branch', '-f', 'remit/other')\n"
    )
    before = git(yard.tree.repo, "--git-dir=.", "for-each-ref")

    claim = await yard.runs(code)

    assert claim.outcome is AttemptOutcome.SUCCESS, claim
    assert claim.text.split() == ["M", "app.py", "mine", "more"]
    assert git(yard.tree.repo, "--git-dir=.", "for-each-ref") == before
    assert (await yard.trees.look(yard.tree)).paths == ("app.py",)


async def test_what_it_leaves_running_is_gone_when_it_ends(yard: Yard) -> None:
    code = (
        "import subprocess, sys, time\n"
        f"words = [sys.executable, '-c', 'import time; time.sleep(600)', {str(yard.tmp)!r}]\n"
        "subprocess.Popen(words, start_new_session=True)\n"
        "open('begun', 'w')\n"
        "while not __import__('os').path.exists('seen'): time.sleep(0.01)\n"
    )
    working = asyncio.create_task(yard.runs(code))
    folder = Path(yard.tree.folder)
    await until((folder / "begun").exists)
    await until(lambda: len(_sleeping(yard)) == 1)
    (folder / "seen").touch()

    assert (await working).outcome is AttemptOutcome.SUCCESS
    await until(lambda: _sleeping(yard) == [])


def _sleeping(yard: Yard) -> list[Path]:
    """Processes that were left behind, as this machine sees them."""
    mark = f"import time; time.sleep(600)\0{yard.tmp}\0".encode()
    return [each for each in Path("/proc").glob("[0-9]*/cmdline") if mark in _read(each)]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


async def test_a_script_that_its_words_name_is_read_and_not_changed(yard: Yard) -> None:
    script = yard.home / "agent.py"
    script.write_text("open(__file__, 'a').write('more')\n")
    (yard.home / "other.py").write_text("")

    claim = await yard.starts((sys.executable, str(script)), SandboxPermissions())
    other = await yard.runs(f"import os; print(os.path.exists({str(yard.home / 'other.py')!r}))")

    assert "Read-only file system" in (claim.error or "")
    assert script.read_text().endswith("write('more')\n")
    assert other.text == "False"


async def test_it_is_told_by_a_file_that_it_can_read(yard: Yard) -> None:
    code = "import sys; print(open(sys.argv[1]).read())"

    claim = await yard.starts((sys.executable, "-c", code, "{prompt_file}"), SandboxPermissions())

    assert claim.text == "Do it."


async def test_a_program_that_is_not_there_says_so(yard: Yard) -> None:
    claim = await yard.starts(("no-such-program",), SandboxPermissions())

    assert claim.error == "tool could not be started: No such file or directory."


async def test_where_there_is_no_sandbox_it_does_not_run(yard: Yard) -> None:
    cage = ProgramSandbox(
        "tool", SandboxPermissions(), home=yard.home, sees=sees, places=(yard.tmp,)
    )
    program = SpecialistProgram(
        "tool", ("touch", "here"), program_environ(os.environ, ()), wrap=cage
    )
    job = SpecialistJob(TASK, "", yard.tree.folder)

    claim = await CommandSpecialist(program).work(job, yard._hear, nobody)

    assert claim.outcome is AttemptOutcome.CRASH
    assert "sandbox = false under [specialists.tool]" in (claim.error or "")
    assert not (Path(yard.tree.folder) / "here").exists()


@for_each("odd", ["", "/", "relative", "/usr/share/me", "/etc", "/data/../usr"])
def test_a_home_that_cannot_be_one_is_elsewhere(odd: str) -> None:
    assert sandbox_home(odd) == Path("/tmp/home")  # noqa: S108 - inside


def test_remits_own_directory_is_lent_to_nobody(tmp_path: Path) -> None:
    own_git = Settings(home=tmp_path / "home").home
    for place in (tmp_path / "home", tmp_path, tmp_path / "home/worktrees"):
        chosen = SpecialistSettings(kind=SpecialistKind.COMMAND, argv=("x",), reads=(str(place),))
        with pytest.raises(BadInput, match="Remit's own directory"):
            _leave("tool", chosen, own_git)
