"""Any command as a specialist: how it is told, how it ends, and that nothing of it is left."""

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from remit.model.reply import AttemptOutcome, Policy, SpecialistClaim, SpecialistJob, ToolCall
from remit.specialist.process import CommandSpecialist, SpecialistProgram, program_environ
from tests.engine.rig import until
from tests.specialist.repository import TASK, has_ended, time_is_up_on_call


def python(code: str, *words: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code, *words)


async def nobody(call: ToolCall) -> Policy:
    raise AssertionError(call)


async def worked(
    folder: Path, argv: Sequence[str], *, limit: float = 60, prompt: str = "Do it.\n"
) -> SpecialistClaim:
    environ = program_environ({**os.environ, "SHOP": "open", "CANARY": "tweet"}, ("SHOP",))
    agent = CommandSpecialist(SpecialistProgram("tool", tuple(argv), environ))
    return await agent.work(
        SpecialistJob(TASK, prompt, str(folder), time_limit=limit), _deaf, nobody
    )


async def _deaf(text: str) -> None:
    del text


async def test_it_is_told_on_stdin_and_works_in_the_folder(tmp_path: Path) -> None:
    code = "import os, sys; print(os.getcwd()); print(sys.stdin.read())"

    claim = await worked(tmp_path, python(code))

    assert claim == SpecialistClaim(f"{tmp_path}\nDo it.")


async def test_it_is_told_by_a_file_that_is_gone_afterwards(tmp_path: Path) -> None:
    code = "import sys; print(sys.argv[1]); print(open(sys.argv[1]).read(), sys.stdin.read())"

    claim = await worked(tmp_path, python(code, "{prompt_file}"), prompt="$(touch x); `y`")

    where, said = claim.text.splitlines()
    assert said.strip() == "$(touch x); `y`"
    assert not Path(where).is_relative_to(tmp_path)
    assert not await asyncio.to_thread(Path(where).exists)


async def test_it_is_given_the_variables_that_were_named_and_its_words_without_a_shell(
    tmp_path: Path,
) -> None:
    code = "import os, sys; print(sorted(os.environ)); print(sys.argv[1:])"

    claim = await worked(tmp_path, python(code, "{workspace}/a", "$HOME; touch x", "*"))
    absent = await worked(tmp_path, ["no-such-program"])

    environ, words = claim.text.splitlines()
    assert "'SHOP'" in environ
    assert "CANARY" not in environ
    assert words == str([f"{tmp_path}/a", "$HOME; touch x", "*"])
    assert absent.outcome is AttemptOutcome.CRASH
    assert absent.error == "tool could not be started: No such file or directory."


@pytest.mark.parametrize(
    ("code", "outcome", "why"),
    [
        ("sys.exit('no luck')", AttemptOutcome.CRASH, "tool ended with exit code 1: no luck"),
        ("sys.exit('Error 429: slow')", AttemptOutcome.RATE_LIMIT, "429"),
        ("print('usage limit reached'); sys.exit(2)", AttemptOutcome.RATE_LIMIT, "usage limit"),
        ("sys.exit('prompt is too long')", AttemptOutcome.CONTEXT_OVERFLOW, "too long"),
        ("os.kill(os.getpid(), 9)", AttemptOutcome.CRASH, "tool was ended by signal 9."),
        ("print('I built a rate limit.')", AttemptOutcome.SUCCESS, ""),
    ],
)
async def test_how_it_ended_is_told_apart(
    tmp_path: Path, code: str, outcome: AttemptOutcome, why: str
) -> None:
    claim = await worked(tmp_path, python(f"import os, sys; {code}"))

    assert claim.outcome is outcome
    assert why in (claim.error or "")


_DAEMON = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open("pid.half", "w").write(str(child.pid))
os.rename("pid.half", "pid")
"""


async def test_one_that_takes_too_long_is_ended_with_all_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    up = time_is_up_on_call(monkeypatch, "remit.system.process.timeout")
    argv = python(f"print('half', flush=True)\n{_DAEMON}time.sleep(600)")
    working = asyncio.create_task(worked(tmp_path, argv, limit=2))
    await until((tmp_path / "pid").exists)
    up()

    claim = await working

    assert (claim.outcome, claim.error) == (
        AttemptOutcome.TIMEOUT,
        "tool was stopped after 2 s: half",
    )
    assert claim.text == "half"
    await until(lambda: has_ended(tmp_path / "pid"))


async def test_what_it_says_is_heard_while_it_works(tmp_path: Path) -> None:
    heard: list[str] = []

    async def hear(text: str) -> None:
        heard.append(text)
        (tmp_path / "heard").write_text("")

    code = (
        "import os, time\nprint('one', flush=True)\n"
        "while not os.path.exists('heard'): time.sleep(0.01)\nprint('two')"
    )
    agent = CommandSpecialist(
        SpecialistProgram("tool", python(code), program_environ(os.environ, ()))
    )
    await agent.work(SpecialistJob(TASK, "", str(tmp_path), time_limit=60), hear, nobody)

    assert heard[0] == "one\n"


async def test_a_sandbox_sees_the_words_the_folder_and_the_prompt(tmp_path: Path) -> None:
    seen: list[object] = []

    def wrap(argv: Sequence[str], folder: str, readable: Sequence[str]) -> Sequence[str]:
        seen.extend([folder, *(Path(path).read_text() for path in readable)])
        return ("env", "WRAPPED=1", *argv)

    code = "import os; print(os.environ['WRAPPED'])"
    environ = program_environ(os.environ, ())
    agent = CommandSpecialist(
        SpecialistProgram("tool", python(code, "{prompt_file}"), environ, wrap=wrap)
    )
    claim = await agent.work(SpecialistJob(TASK, "Do it.", str(tmp_path)), _deaf, nobody)

    assert claim.text == "1"
    assert seen == [str(tmp_path), "Do it."]
