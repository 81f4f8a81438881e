"""The sandbox itself: what a run gives back, when it is stopped, and that none runs without."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.errors import BadInput
from remit.verify import project_files
from remit.verify.project_files import Toolchain, installed_folders
from remit.verify.sandbox import Sandbox, SandboxFiles, SandboxRefusal, SandboxResult
from tests.verify import workshop
from tests.verify.workshop import PYTHON, SMALL

SH = "/bin/sh"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return workshop.write(tmp_path / "work", {"a.txt": "one\n", "b/c.txt": "two\n"})


async def test_a_run_gives_its_code_its_report_and_what_it_said_on_both_streams(work: Path) -> None:
    line = "cat a.txt; cat b/c.txt >&2; echo seen > /tmp/report; exit 7"
    found = await workshop.ended((SH, "-c", line), work)

    assert found == SandboxResult(7, "one\ntwo\n", b"seen\n")


async def test_what_takes_too_long_is_stopped(work: Path) -> None:
    found = await workshop.ended(
        (SH, "-c", "echo begun; sleep 600 & sleep 600"), work, replace(SMALL, seconds=1.5)
    )

    assert found.code is None
    assert found.output == "begun\n"


async def test_of_much_that_is_said_the_end_is_kept(work: Path) -> None:
    words = "import sys; sys.stdout.write('x' * 5_000_000); print('the end')"

    found = await workshop.ended((str(PYTHON), "-c", words), work)

    assert len(found.output) <= 1024 * 1024
    assert found.output.endswith("the end\n")


async def test_each_run_finds_the_workspace_as_it_is_and_not_as_the_last_left_it(
    work: Path,
) -> None:
    await workshop.ended((SH, "-c", "echo spoilt > a.txt; touch left"), work)

    found = await workshop.ended((SH, "-c", "cat a.txt; ls"), work)

    assert found.output == "one\na.txt\nb\n"


async def test_a_server_on_loopback_works_inside(work: Path) -> None:
    words = (
        "import socket, threading\n"
        "s = socket.create_server(('127.0.0.1', 0))\n"
        "threading.Thread(target=lambda: s.accept()[0].sendall(b'inside')).start()\n"
        "print(socket.create_connection(s.getsockname()).recv(9))"
    )

    found = await workshop.ended((str(PYTHON), "-c", words), work)

    assert found.output == "b'inside'\n"


@pytest.mark.parametrize("broken", [False, True])
async def test_without_bubblewrap_nothing_is_run(work: Path, tmp_path: Path, broken: bool) -> None:
    why = "There is no bwrap on this machine, and without a sandbox nothing"
    places: tuple[Path, ...] = (tmp_path,)
    if broken:
        script = "#!/bin/sh\necho 'bwrap: no namespaces' >&2\nexit 1\n"
        workshop.write(tmp_path, {"bin/bwrap": script})
        (tmp_path / "bin/bwrap").chmod(0o755)
        places, why = (tmp_path / "bin", Path("/usr/bin")), "(bwrap: no namespaces)"
    archive = tmp_path / "files.tar"
    archive.write_bytes(workshop.packed(work))
    sandbox = Sandbox(SMALL, places=places)

    found = await sandbox.run((SH, "-c", f"touch {tmp_path}/ran"), SandboxFiles(archive, work))

    assert isinstance(found, SandboxRefusal)
    assert why in found.why
    assert why in (await sandbox.trouble() or "")
    assert await Sandbox(SMALL).trouble() is None
    assert not (tmp_path / "ran").exists()


async def test_a_bubblewrap_that_lies_in_the_path_is_not_taken(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop.write(tmp_path, {"bin/bwrap": f"#!/bin/sh\ntouch {tmp_path}/ran\n"})
    (tmp_path / "bin/bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")

    await workshop.ended((SH, "-c", "true"), work)

    assert not (tmp_path / "ran").exists()


async def test_what_is_shown_is_read_and_never_written(work: Path, tmp_path: Path) -> None:
    shown = workshop.write(work / ".venv", {"kept": "as it was"})
    archive = tmp_path / "files.tar"
    archive.write_bytes(workshop.packed(work))

    found = await Sandbox(SMALL).run(
        (SH, "-c", "cat .venv/kept; echo changed > .venv/kept; rm .venv/kept"),
        SandboxFiles(archive, work, installed_folders(work, (".venv",))),
    )

    assert isinstance(found, SandboxResult)
    assert found.output.startswith("as it was")
    assert (shown / "kept").read_text() == "as it was"


def test_an_installed_folder_that_is_a_link_is_not_shown(work: Path, tmp_path: Path) -> None:
    workshop.write(tmp_path, {"elsewhere/key": "secret"})
    (work / ".venv").symlink_to(tmp_path / "elsewhere")

    assert installed_folders(work, (".venv",)) == ()


@pytest.mark.parametrize("home", ["{home}/bin", "/etc/bin", "/bin", "{home}/.ssh"])
def test_an_environment_that_names_a_home_as_its_python_does_not_get_it(
    home: str, work: Path, tmp_path: Path
) -> None:
    mine = workshop.write(tmp_path / "mine", {".ssh/key": "secret", "bin/python3": ""})
    said = f"home = {home.format(home=mine)}\n"
    workshop.write(work, {".venv/pyvenv.cfg": said, ".venv/bin/ruff": ""})
    (work / ".venv/bin/ruff").chmod(0o755)

    tools = Toolchain(work, {"HOME": str(mine)})
    program = tools.find("ruff")

    assert program is not None
    assert [each.folder for each in tools.needed_folders(program)] == [work / ".venv"]


def test_more_than_there_is_room_for_is_refused_in_a_sentence(work: Path, tmp_path: Path) -> None:
    (work / "big").write_bytes(b"x" * 3_000_000)

    with pytest.raises(BadInput, match="more than the 2 MB of files that a check may have"):
        project_files.pack(work, tmp_path / "files.tar", instead={}, room=2)


async def test_modes_and_links_are_laid_in_as_they_are(work: Path) -> None:
    (work / "run").write_text("#!/bin/sh\necho ran\n")
    (work / "run").chmod(0o755)
    (work / "alias").symlink_to("a.txt")

    found = await workshop.ended((SH, "-c", "./run; cat alias; test -x a.txt || echo plain"), work)

    assert found.output == "ran\none\nplain\n"


@given(name=st.text(st.characters(exclude_characters="/\0", codec="utf-8"), min_size=1))
def test_any_name_that_a_file_may_have_is_packed(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("names")
    try:
        (folder / name).write_text("content")
    except OSError:
        return

    assert b"content" in workshop.packed(folder)
