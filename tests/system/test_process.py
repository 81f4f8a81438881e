"""Programs that Remit starts: heard to their end, stopped in time, and nothing of them is left."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from contextlib import suppress
from pathlib import Path

import pytest

from remit.system.process import ProgramEnd, WorkerAnswer, ask_worker, run_to_end
from tests.engine.rig import until
from tests.specialist.repository import time_is_up_on_call

MOST = 1_000
# Starts a child that would stay for minutes, and says which one it is.
LEAVES_A_CHILD = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print("begun", flush=True)
open("pid.half", "w").write(str(child.pid))
os.rename("pid.half", "pid")
"""


async def run(
    code: str,
    folder: Path,
    *,
    stdin: bytes | None = None,
    err: int = PIPE,
) -> ProgramEnd:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code),
        stdin=DEVNULL if stdin is None else PIPE,
        stdout=PIPE,
        stderr=err,
        cwd=folder,
        start_new_session=True,
    )
    return await run_to_end(process, 100, MOST, stdin=stdin or b"")


@pytest.mark.parametrize("end", ["by itself", "its time is up", "cancelled"])
async def test_however_a_program_ends_nothing_that_it_started_is_left(
    tmp_path: Path, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    up = time_is_up_on_call(monkeypatch, "remit.system.process.timeout")
    code = LEAVES_A_CHILD + ("" if end == "by itself" else "time.sleep(600)")
    running = asyncio.create_task(run(code, tmp_path))
    await until((tmp_path / "pid").exists)
    if end == "its time is up":
        up()
    elif end == "cancelled":
        running.cancel()
    with suppress(asyncio.CancelledError):
        ended = await running
        assert ended == ProgramEnd(0 if end == "by itself" else None, b"begun\n", b"")
    assert running.cancelled() == (end == "cancelled")
    await until(lambda: _is_gone(int((tmp_path / "pid").read_text())))


def _is_gone(pid: int) -> bool:
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


async def test_of_much_output_the_end_is_kept_of_each_stream(tmp_path: Path) -> None:
    code = "import sys\nfor out in sys.stdout, sys.stderr: out.write('x' * 300_000 + out.name)"
    ended = await run(code, tmp_path)
    assert (len(ended.out), len(ended.err)) == (MOST, MOST)
    assert (ended.out[-9:], ended.err[-9:]) == (b"x<stdout>", b"x<stderr>")
    joined = await run(code, tmp_path, err=STDOUT)
    assert (len(joined.out), joined.err) == (MOST, b"")


async def test_one_that_does_not_read_its_input_ends_all_the_same(tmp_path: Path) -> None:
    ended = await run("print('done')", tmp_path, stdin=b"x" * 5_000_000)
    assert ended == ProgramEnd(0, b"done\n", b"")


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("print(sys.stdin.read() + '!')", WorkerAnswer(b"order!\n", in_time=True, code=0)),
        ("sys.exit(3)", WorkerAnswer(b"", in_time=True, code=3)),
        ("print('x' * 300_000)", WorkerAnswer(b"x" * MOST, in_time=True, code=None)),
        ("print('half', flush=True); time.sleep(600)", WorkerAnswer(b"half\n", False, None)),
    ],
)
async def test_a_worker_gives_one_bounded_answer_to_one_order(
    code: str, answer: WorkerAnswer
) -> None:
    argv = (sys.executable, "-c", f"import sys, time; {code}")
    seconds, before = 100 if answer.in_time else 2, open_pipes()
    assert await ask_worker(argv, b"order", seconds, MOST) == answer
    await until(lambda: open_pipes() <= before)


def open_pipes() -> set[str]:
    found = set[str]()
    for each in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # it was closed meanwhile
            found.add(str(each.readlink()))
    return {name for name in found if name.startswith("pipe:")}
