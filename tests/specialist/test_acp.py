"""An agent over the Agent Client Protocol, in its own process: what it says, asks, breaks."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from remit.model.reply import AttemptOutcome, Policy, SpecialistClaim, SpecialistJob, ToolCall
from remit.ports import Permit, Specialist
from remit.specialist import changes
from remit.specialist.process import SpecialistProgram, program_environ
from tests.engine.rig import until
from tests.soak import one_in
from tests.specialist.repository import TASK, has_ended, time_is_up_on_call

AGENT = Path(__file__).parent / "fake_agent.py"


def specialist(program: SpecialistProgram) -> Specialist:
    from remit.specialist.acp import AcpSpecialist  # noqa: PLC0415 - takes a second

    return AcpSpecialist(program)


class Stage:
    """A folder to work in, one agent, and all that was heard and asked."""

    def __init__(self, tmp_path: Path, **more: str) -> None:
        self.folder = tmp_path / "folder"
        self.state = tmp_path / "state"
        for path in (self.folder, self.state):
            path.mkdir(exist_ok=True)
        self.heard: list[str] = []
        self.asked: list[ToolCall] = []
        environ = program_environ(os.environ, ()) | {"FAKE_STATE": str(self.state), **more}
        program = SpecialistProgram("fake", (sys.executable, str(AGENT)), environ)
        self.agent = specialist(program)

    async def hear(self, text: str) -> None:
        self.heard.append(text)

    async def work(
        self,
        *lines: str,
        session: str | None = None,
        limit: float = 60,
        allowed: tuple[str, ...] = (),
        permit: Permit | None = None,
    ) -> SpecialistClaim:
        job = SpecialistJob(TASK, "\n".join(lines), str(self.folder), session, limit, allowed)
        return await self.agent.work(job, self.hear, permit or self.judge)

    async def judge(self, call: ToolCall) -> Policy:
        self.asked.append(call)
        return changes.rule_on_call(call, str(self.folder))


def always(answer: Policy) -> Callable[[ToolCall], Awaitable[Policy]]:
    async def judge(call: ToolCall) -> Policy:
        del call
        return answer

    return judge


async def test_a_turn_becomes_a_claim_and_is_heard_as_it_comes(tmp_path: Path) -> None:
    stage = Stage(tmp_path)

    claim = await stage.work("say I looked.", "plan", "say All is well.")

    assert claim.outcome is AttemptOutcome.SUCCESS
    assert claim.text == "I looked.\nAll is well."
    assert (claim.done, claim.pending) == (("look",), ("mend",))
    assert claim.session
    assert stage.heard == ["I looked.\n", "All is well.\n"]


async def test_a_session_goes_on_in_a_new_process_and_its_past_is_not_heard_again(
    tmp_path: Path,
) -> None:
    first = await Stage(tmp_path).work("say one")

    claim = await Stage(tmp_path).work("history", session=first.session)

    assert claim.session == first.session
    assert "say one" in claim.text
    assert "long ago" not in claim.text


# Leave --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "taken"), [(Policy.ALLOW, "allow_once"), (Policy.DENY, "reject_once")]
)
async def test_a_call_is_allowed_once_or_rejected_and_the_turn_goes_on(
    tmp_path: Path, answer: Policy, taken: str
) -> None:
    claim = await Stage(tmp_path).work("run touch made", "say on", permit=always(answer))

    assert (claim.outcome, claim.text) == (AttemptOutcome.SUCCESS, f"leave: {taken}\non")
    assert (tmp_path / "folder" / "made").exists() is (answer is Policy.ALLOW)


async def test_an_edit_in_the_folder_needs_nobody_and_one_elsewhere_the_owner(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path)

    inside = await stage.work(f"edit {stage.folder}/app.py")
    outside = await stage.work("edit /etc/passwd")

    assert inside.text == "leave: allow_once"
    assert outside.outcome is AttemptOutcome.NEEDS_OWNER


async def test_what_only_the_owner_may_allow_ends_the_turn_and_is_named_exactly(
    tmp_path: Path,
) -> None:
    claim = await Stage(tmp_path).work("run touch made", "say never")

    assert claim.outcome is AttemptOutcome.NEEDS_OWNER
    assert claim.needs is not None
    assert (claim.needs.tool, claim.needs.args) == ("execute", {"command": "touch made"})
    assert changes.exact_call(claim.needs) == "touch made"
    assert claim.text == "", "what is said after the turn does not count"
    assert not (tmp_path / "folder" / "made").exists()


async def test_after_the_owners_word_exactly_that_call_goes_through_once(tmp_path: Path) -> None:
    asks = await Stage(tmp_path).work("run touch made")
    assert asks.needs is not None
    stage, made = Stage(tmp_path), tmp_path / "folder" / "made"

    async def goes_on(*lines: str) -> AttemptOutcome:
        allowed = (asks.needs.digest,) if asks.needs else ()
        return (await stage.work(*lines, session=asks.session, allowed=allowed)).outcome

    assert await goes_on("run touch made other") is AttemptOutcome.NEEDS_OWNER
    assert not made.exists()
    stage.asked.clear()
    # The second time it is asked again.
    assert await goes_on("run touch made", "run touch made") is AttemptOutcome.NEEDS_OWNER
    assert made.exists()
    assert [call.args for call in stage.asked] == [{"command": "touch made"}]


async def test_an_agent_that_hangs_after_a_no_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remit.specialist.acp._CANCEL_GRACE_SECONDS", 0.05)
    stage = Stage(tmp_path)

    # It waits for a second answer that never comes, for its turn is over.
    claim = await stage.work("daemon pid", "run touch a", "hang")

    assert claim.outcome is AttemptOutcome.NEEDS_OWNER
    await until(lambda: has_ended(stage.folder / "pid"))


# Files --------------------------------------------------------------------------------------------


async def test_files_are_read_and_written_in_the_folder_alone(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    (stage.folder / "a.txt").write_text("one\ntwo\nthree\n")
    (tmp_path / "secret").write_text("secret")
    (stage.folder / "link").symlink_to(tmp_path)

    claim = await stage.work(
        f"write {stage.folder}/sub/new.txt",
        f"read {stage.folder}/a.txt",
        f"lines {stage.folder}/a.txt",
        f"read {tmp_path}/secret",
        f"read {stage.folder}/../secret",
        f"read {stage.folder}/link/secret",
        f"write {tmp_path}/out.txt",
        f"write {stage.folder}/.git/hooks/pre-commit",
        f"write {stage.folder}/link/out.txt",
        "terminal",
    )

    said = claim.text.splitlines()
    assert (stage.folder / "sub/new.txt").read_text() == "by fake\n"
    assert [line.partition(" ")[0] for line in said if line[:2] in ("ok", "re")] == [
        *["ok"] * 3,
        *["refused"] * 7,
    ]
    assert "ok secret" not in claim.text
    assert not (tmp_path / "out.txt").exists()
    assert not (stage.folder / ".git").exists()


# What breaks --------------------------------------------------------------------------------------


@one_in(3)  # each starts a process
@pytest.mark.parametrize(
    ("line", "outcome", "why"),
    [
        ("crash out of luck", AttemptOutcome.CRASH, "ended with exit code 3: out of luck"),
        ("crash 429 Too Many Requests", AttemptOutcome.RATE_LIMIT, "429"),
        ("crash prompt is too long: 210000 tokens", AttemptOutcome.CONTEXT_OVERFLOW, "too long"),
        ("fail rate_limit_error: slow down", AttemptOutcome.RATE_LIMIT, "slow down"),
        (
            "fail input exceeds the context window",
            AttemptOutcome.CONTEXT_OVERFLOW,
            "context window",
        ),
        ("fail disk on fire", AttemptOutcome.CRASH, "disk on fire"),
        ("stop refusal", AttemptOutcome.BAD_OUTPUT, "refused"),
        ("stop max_tokens", AttemptOutcome.CONTEXT_OVERFLOW, "tokens"),
        ("stop max_turn_requests", AttemptOutcome.BAD_OUTPUT, "more often"),
        ("stop cancelled", AttemptOutcome.CRASH, "broke its turn off"),
        ("stop because", AttemptOutcome.BAD_OUTPUT, "form that the protocol does not know"),
    ],
)
async def test_each_way_to_fail_is_told_apart(
    tmp_path: Path, line: str, outcome: AttemptOutcome, why: str
) -> None:
    claim = await Stage(tmp_path).work("say half of it", line)

    assert claim.outcome is outcome
    assert why in (claim.error or "")
    assert claim.text == "half of it"
    assert claim.session


async def test_lines_that_are_no_protocol_do_no_harm(tmp_path: Path) -> None:
    assert (await Stage(tmp_path).work("garble", "say well")).text == "well"


async def test_one_that_hangs_is_ended_with_all_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(tmp_path)
    up = time_is_up_on_call(monkeypatch, "remit.specialist.acp.timeout")
    working = asyncio.create_task(stage.work("daemon pid", "say half", "hang", limit=2))
    await until(lambda: "half\n" in stage.heard)
    up()

    claim = await working

    assert claim.outcome is AttemptOutcome.TIMEOUT
    assert claim.error == "fake was stopped after 2 s."
    assert claim.session, "it can be gone on with"
    await until(lambda: has_ended(stage.folder / "pid"))


async def test_a_cancel_leaves_nothing_behind(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    working = asyncio.create_task(stage.work("daemon pid", "hang"))
    await until((stage.folder / "pid").exists)

    working.cancel()
    await asyncio.gather(working, return_exceptions=True)

    await until(lambda: has_ended(stage.folder / "pid"))


@pytest.mark.parametrize(
    ("odd", "outcome", "why"),
    [
        ("", AttemptOutcome.CRASH, "Resource not found"),  # the session is gone
        ("FORGETS", AttemptOutcome.BAD_OUTPUT, "fake cannot go on with a session; begin a new"),
        ("VERSION", AttemptOutcome.BAD_OUTPUT, "fake speaks version 7 of the protocol, not 1."),
        ("SIGNED_OUT", AttemptOutcome.NEEDS_OWNER, "fake login"),
    ],
)
async def test_one_that_cannot_begin_says_why(
    tmp_path: Path, odd: str, outcome: AttemptOutcome, why: str
) -> None:
    stage = Stage(tmp_path, **({f"FAKE_{odd}": "7"} if odd else {}))
    session = "0" * 32 if odd in ("", "FORGETS") else None

    claim = await stage.work("say on", session=session)

    assert (claim.outcome, claim.session) == (outcome, None)
    assert why in (claim.error or "")


def test_what_a_command_is_called_does_not_change_what_is_allowed() -> None:
    from acp.schema import ToolCallUpdate  # noqa: PLC0415 - takes a second

    from remit.specialist.acp import tool_call_of  # noqa: PLC0415 - takes a second

    one, other = (
        ToolCallUpdate(
            tool_call_id=f"{n}",
            kind="read",
            title=f"Harmless look {n}",
            raw_input={"command": "rm -r x", "description": f"look {n}", "timeout": 5},
        )
        for n in range(2)
    )

    assert tool_call_of(one).digest == tool_call_of(other).digest
    assert tool_call_of(one).tool == "execute"
    assert changes.rule_on_call(tool_call_of(one), "/folder") is Policy.ASK
