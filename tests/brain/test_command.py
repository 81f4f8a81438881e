"""Command work: what the settings name is run once, without a brain, and what it said is judged."""

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from remit.brain.command import MAX_OUTPUT_BYTES, MAX_REPLY_CHARACTERS, OUTPUT, CommandTool, turn
from remit.brain.tools import Toolbox
from remit.errors import Permanent
from remit.model.contract import Plan
from remit.model.delivery import Delivery
from remit.model.reply import Exchange, Policy, Reply, ToolCall, ToolResult
from remit.model.task import Creator, Taint, Task
from remit.settings import CommandSettings
from tests.engine.rig import until
from tests.specialist.repository import time_is_up_on_call
from tests.stage import stage
from tests.tables import for_each

TASK = replace(stage().memory.task, assigned_agent="command:say")
CALL = ToolCall("command", "command:say")


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


async def used(home: Path, command: CommandSettings, *, limit: float = 60) -> ToolResult:
    environ = {**os.environ, "LANG": "C.UTF-8", "SHOP": "open", "SECRET_TOKEN": "canary"}
    tool = CommandTool("say", command, work=home, environ=environ, limit=limit)
    return await Toolbox([tool]).use(TASK, CALL)


# Running ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("print('<b>1 < 2</b>'); print('and more')", "<b>1 < 2</b>\nand more"),
        ("import os; print(os.getcwd())", "/"),  # a directory of its own
        ("import sys; print(sys.argv[1])", "$(touch owned); echo $HOME"),  # no shell reads it
    ],
    ids=["letters", "directory", "shell"],
)
async def test_what_it_said_is_kept_to_the_letter_and_trusted_by_nobody(
    tmp_path: Path, code: str, text: str
) -> None:
    argv = (*python(code), "$(touch owned); echo $HOME")

    result = await used(tmp_path, CommandSettings(argv, cwd="/" if text == "/" else ""))

    assert result == ToolResult("command", f"exit 0\n{text}", taint=Taint.PUBLIC, raw=True)
    assert (tmp_path / TASK.id / OUTPUT).read_text() == f"{text}\n"
    assert not (tmp_path / TASK.id / "owned").exists()


async def test_it_runs_in_the_tasks_workspace_with_few_variables_and_no_input(
    tmp_path: Path,
) -> None:
    code = "import os, sys; print(os.getcwd()); print(sorted(os.environ)); print(sys.stdin.read())"

    result = await used(tmp_path, CommandSettings(python(code), env=("SHOP", "ABSENT")))

    said = result.text.splitlines()
    assert said[1] == str(tmp_path / TASK.id)
    names = {"HOME", "LANG", "PATH", "SHOP"}
    assert set(said[2].strip("[]").replace("'", "").split(", ")) - {"LC_CTYPE"} == names
    assert len(said) == 3


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (python("print('No room left'); exit(3)"), "say ended with exit code 3: No room left"),
        (python("raise SystemExit(1)"), "say ended with exit code 1."),
        (python("import os; os.kill(os.getpid(), 15)"), "say was ended by signal 15."),
        (python("exit('\\x1b[31mred\\nline')"), "say ended with exit code 1: [31mred / line"),
        (("/no/such/program",), "say could not be run: No such file or directory."),
        (("program-that-nobody-has",), "say could not be run: No such file or directory."),
    ],
)
async def test_one_that_fails_says_how_in_its_last_words(
    tmp_path: Path, argv: tuple[str, ...], sentence: str
) -> None:
    result = await used(tmp_path, CommandSettings(argv))

    assert result.failed
    assert sentence in result.text


async def test_much_output_is_told_by_its_end_and_says_so(tmp_path: Path) -> None:
    code = "import sys; sys.stdout.writelines(f'line {n:07}\\n' for n in range(200_000))"

    result = await used(tmp_path, CommandSettings(python(code)))

    assert len(result.text) < MAX_REPLY_CHARACTERS + 100
    assert "the rest is in output.txt" in result.text.splitlines()[1]
    assert result.text.splitlines()[2].startswith("line ")
    assert result.text.endswith("line 0199999")
    assert (tmp_path / TASK.id / OUTPUT).stat().st_size == MAX_OUTPUT_BYTES
    raw = "import sys; sys.stdout.buffer.write(bytes(range(256)))"  # no text, and no harm
    assert (await used(tmp_path, CommandSettings(python(raw)))).text.encode()[:7] == b"exit 0\n"


# Ending -------------------------------------------------------------------------------------------


def is_there(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    return False


def born(file: Path) -> bool:
    return file.exists() and bool(file.read_text())


async def test_one_that_takes_too_long_is_ended_with_all_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "child"
    argv = ("/bin/sh", "-c", 'sleep 600 & echo $! > "$0"; wait', str(file))
    up = time_is_up_on_call(monkeypatch, "remit.system.process.timeout")
    running = asyncio.create_task(used(tmp_path, CommandSettings(argv, timeout=600), limit=1.5))
    await until(lambda: born(file))
    up()

    result = await running

    assert result.failed
    assert "say was stopped after 1.5 s" in result.text
    child = int(file.read_text())
    await until(lambda: not is_there(child))


# Whose --------------------------------------------------------------------------------------------


@for_each(
    ("task", "policy"),
    [
        (TASK, Policy.ALLOW),
        (replace(TASK, created_by=Creator.SCHEDULER), Policy.ALLOW),
        (replace(TASK, created_by=Creator.AGENT), Policy.DENY),
        (replace(TASK, assigned_agent="command:other"), Policy.DENY),
        (replace(TASK, assigned_agent=None), Policy.DENY),
    ],
)
async def test_only_a_task_that_was_made_for_it_may_run_it(
    tmp_path: Path, task: Task, policy: Policy
) -> None:
    tool = CommandTool("say", CommandSettings(("true",)), work=tmp_path, environ={}, limit=1)

    assert tool.policy(task) is policy
    assert (await Toolbox([tool]).rule(task, CALL)).policy is policy


def test_the_first_turn_asks_for_the_command_and_the_second_tells() -> None:
    plan = Plan(delivery=(Delivery("outbox"),))
    first = turn(TASK, plan, ())

    assert first.calls == (CALL,)
    assert _second(plan, "exit 0\nAll good").text.endswith(
        "<deliverable>\nAll good\n</deliverable>"
    )
    assert "say ended well and said nothing." in _second(plan, "exit 0\n").text
    assert _second(Plan(), "exit 0\nAll good").text == "exit 0\nAll good"
    assert "<deliverable>" not in _second(plan, "The owner says that it was done.").text
    with pytest.raises(Permanent, match="No room"):
        _second(plan, "No room", failed=True)


def _second(plan: Plan, said: str, *, failed: bool = False) -> Reply:
    return turn(TASK, plan, (Exchange(Reply(""), (ToolResult("command", said, failed),)),))
