"""The brain as a specialist: it works on files with tools, and has no others."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from remit.errors import Permanent, Transient
from remit.model.codec import Json
from remit.model.reply import (
    Ask,
    AttemptOutcome,
    Policy,
    Prompt,
    Reply,
    SpecialistClaim,
    SpecialistJob,
    ToolCall,
)
from remit.model.status import Reason
from remit.specialist import brain_specialist
from remit.specialist.brain_specialist import OwnSpecialist
from tests.specialist.repository import TASK

Turn = Reply | Exception | Callable[[Prompt], Reply]
NEVER = Reply("")


class Script:
    """A brain that says one thing after the other, and keeps what it was told."""

    def __init__(self, *turns: Turn) -> None:
        self.turns = list(turns)
        self.told: list[Prompt] = []

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        assert session
        self.told.append(prompt)
        turn = self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]
        if turn is NEVER:
            await asyncio.Event().wait()
        if isinstance(turn, Exception):
            raise turn
        return turn if isinstance(turn, Reply) else turn(prompt)


def use(tool: str, **args: Json) -> Reply:
    return Reply("", calls=(ToolCall("c1", tool, args),), state=f"used {tool}")


async def worked(folder: Path, script: Script, limit: float = 60) -> SpecialistClaim:
    async def deny(call: ToolCall) -> Policy:
        raise AssertionError(call)

    async def hear(_: str) -> None:
        """Nobody reads it."""

    job = SpecialistJob(TASK, "Make x two.", str(folder), time_limit=limit)
    return await OwnSpecialist("brain", script).work(job, hear, deny)


async def test_it_reads_changes_writes_and_deletes_files(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("x = 1\n")
    (tmp_path / "old.py").write_text("")
    script = Script(
        use("list_files"),
        use("read_file", path="app.py"),
        use("replace_text", path="app.py", old="1", new="2"),
        use("write_file", path="docs/a.md", text="# A\n"),
        use("delete_file", path="old.py"),
        Reply("DONE: x is two"),
    )

    claim = await worked(tmp_path, script)

    assert (claim.outcome, claim.text) == (AttemptOutcome.SUCCESS, "DONE: x is two")
    assert (tmp_path / "app.py").read_text() == "x = 2\n"
    assert (tmp_path / "docs/a.md").read_text() == "# A\n"
    assert not (tmp_path / "old.py").exists()
    told = [prompt.results[0].text for prompt in script.told[1:]]
    assert told[:2] == ["app.py\nold.py", "x = 1\n"]
    assert script.told[-1].earlier == tuple(
        f"used {t}"
        for t in ("list_files", "read_file", "replace_text", "write_file", "delete_file")
    )
    assert [prompt.text for prompt in script.told] == ["Make x two.", *[""] * 5]


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (use("read_file", path="../secret"), "no path of a file"),
        (use("write_file", path=".git/hooks/pre-commit", text="x"), "no path of a file"),
        (use("read_file", path="absent"), "There is no file"),
        (use("read_file"), "needs path as text"),
        (use("write_file", path="a", text=7), "needs text as text"),
        (use("replace_text", path="app.py", old="z", new=""), "occurs 0 times"),
        (use("replace_text", path="app.py", old="", new="y"), "occurs 0 times"),
        (use("run_command", command="ls"), "no tool 'run_command'"),
    ],
)
async def test_a_call_that_cannot_be_done_is_told_and_the_work_goes_on(
    tmp_path: Path, call: Reply, why: str
) -> None:
    (tmp_path / "app.py").write_text("x = 1\n")
    script = Script(call, Reply("Done."))

    claim = await worked(tmp_path, script)

    (result,) = script.told[1].results
    assert result.failed
    assert why in result.text
    assert claim.outcome is AttemptOutcome.SUCCESS


@pytest.mark.parametrize(
    ("turn", "outcome"),
    [
        (Transient("openai:x has had too many requests."), AttemptOutcome.RATE_LIMIT),
        (
            Permanent("The prompt is longer than openai:x can read."),
            AttemptOutcome.CONTEXT_OVERFLOW,
        ),
        (Transient("The connection to openai:x failed."), AttemptOutcome.CRASH),
        (Reply("half", flaw="It was cut off."), AttemptOutcome.BAD_OUTPUT),
        (Reply("", ask=Ask(Reason.INPUT, "Which x?")), AttemptOutcome.NEEDS_OWNER),
        (NEVER, AttemptOutcome.TIMEOUT),  # it thinks too long
    ],
)
async def test_each_way_to_fail_is_told_apart(
    tmp_path: Path, turn: Turn, outcome: AttemptOutcome
) -> None:
    claim = await worked(tmp_path, Script(turn), 0.01 if turn is NEVER else 60)

    assert claim.outcome is outcome
    assert claim.error


async def test_one_that_never_comes_to_an_end_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(brain_specialist, "MAX_TURNS", 3)
    script = Script(use("list_files"))

    claim = await worked(tmp_path, script)

    assert claim.outcome is AttemptOutcome.BAD_OUTPUT
    assert len(script.told) == 3
