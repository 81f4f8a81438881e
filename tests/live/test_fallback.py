"""A second model takes over while the first one's provider is down, over real HTTP."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from remit.brain.models import FIRST_PAUSE_SECONDS, ModelBrain
from remit.cli import log
from remit.cli.main import run
from remit.errors import Permanent, Transient
from remit.intake.exam.qualify import ExamFile, ExamResult
from remit.model.reply import Prompt, Usage
from remit.model.status import Reason, Status
from remit.settings import load
from remit.store import events
from remit.testing import World
from remit.wiring.readers import brain_of
from tests.live.faults import GOOD
from tests.live.place import Place, choice
from tests.live.test_reading import BOOK, NOW, ZONE
from tests.live.vendor import Order, Vendor
from tests.live.wire import Answer, Call

DOWN: Final = {
    "overloaded": Order(status=529, kind="overloaded_error"),
    "server error": Order(status=500),
    "rate limit that lasts": Order(status=429, kind="rate_limit_error"),
    "long rate limit": Order(status=429, headers={"retry-after": "3000"}),
    "no credit": Order(status=402, kind="billing_error"),
    "quota": Order(status=429, kind="insufficient_quota", headers={"retry-after": "3000"}),
    "revoked key": Order(status=401, kind="authentication_error"),
    "no answer": Order(body=b"<html>Bad gateway</html>"),
}


class Seconds:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def pair(
    first: Vendor, second: Vendor, clock: Seconds, place: Place = Place.CHAT
) -> AsyncIterator[ModelBrain]:
    other = ModelBrain(choice(second, Place.ANTHROPIC))
    mind = ModelBrain(choice(first, place), fallback=other, now=clock)
    try:
        yield mind
    finally:
        await mind.close()


@pytest.mark.usefixtures("hurry")
@pytest.mark.parametrize("fault", DOWN)
async def test_the_second_answers_and_the_first_is_tried_again_after_a_pause(fault: str) -> None:
    clock = Seconds()
    async with Vendor() as first, Vendor() as second, pair(first, second, clock) as mind:
        first.orders = [DOWN[fault]]

        reply = await mind.think(Prompt("Hi"), session="s")
        asked = len(first.heard)
        again = await mind.think(Prompt("Hi"), session="s")

        assert reply.text == again.text == "Good day."
        assert reply.fallback_note.startswith("anthropic:test at http")
        assert "answered instead of openai-chat:test" in reply.fallback_note
        assert len(first.heard) == asked, "it is left alone for a while"
        assert reply.usage.requests == 2, "the failed request counts, too"

        first.orders = [Order(Answer("I am back."))]
        clock.now += FIRST_PAUSE_SECONDS + 1
        back = await mind.think(Prompt("Hi"), session="s")

        assert (back.text, back.fallback_note) == ("I am back.", "")
        assert len(second.heard) == 2


@pytest.mark.usefixtures("hurry")
async def test_a_provider_that_stays_down_is_asked_less_and_less() -> None:
    clock, tries = Seconds(), 0
    async with Vendor() as first, Vendor() as second, pair(first, second, clock) as mind:
        first.orders = [Order(status=401, kind="authentication_error")]
        for _ in range(60):
            await mind.think(Prompt("Hi"), session="s")
            clock.now += FIRST_PAUSE_SECONDS
        tries = len(first.heard)

    assert 5 <= tries <= 9


async def test_who_is_not_reachable_at_all_is_replaced() -> None:
    async with Vendor() as second:
        async with Vendor() as first:
            gone = choice(first, Place.CHAT)
        mind = ModelBrain(gone, fallback=ModelBrain(choice(second, Place.CHAT)))
        assert (await mind.think(Prompt("Hi"), session="s")).text == "Good day."
        await mind.close()


async def test_a_wrong_request_stays_wrong_and_wakes_nobody() -> None:
    async with Vendor() as first, Vendor() as second, pair(first, second, Seconds()) as mind:
        first.orders = [Order(status=400, kind="invalid_request_error", message="Bad tool.")]
        with pytest.raises(Permanent, match="rejected"):
            await mind.think(Prompt("Hi"), session="s")
        assert second.heard == []


@pytest.mark.usefixtures("hurry")
async def test_if_both_are_down_the_sentence_speaks_of_both() -> None:
    async with Vendor() as first, Vendor() as second, pair(first, second, Seconds()) as mind:
        first.orders = [Order(status=402, kind="billing_error")]
        second.orders = [Order(status=500)]
        with pytest.raises(Transient, match=r"no credit.*anthropic:test.* second model"):
            await mind.think(Prompt("Hi"), session="s")
    async with Vendor() as first, Vendor() as second, pair(first, second, Seconds()) as mind:
        first.orders = second.orders = [Order(status=401, kind="authentication_error")]
        reply = await mind.think(Prompt("Hi"), session="s")
        assert reply.ask is not None
        assert reply.ask.reason is Reason.AUTH
        assert reply.ask.question.count("refused the key") == 2


async def test_each_is_paid_at_its_own_price(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Vendor() as first, Vendor() as second:
        first.orders = [Order(status=402, kind="billing_error")]
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", second.url)
        monkeypatch.setenv("REMIT_BRAIN_MODEL", "openai-chat:test")
        monkeypatch.setenv("REMIT_BRAIN_BASE_URL", f"{first.url}/v1")
        monkeypatch.setenv("REMIT_BRAIN_FALLBACK", "anthropic:claude-sonnet-5-5")
        mind = brain_of(load())
        assert isinstance(mind, ModelBrain)
        estimate = await mind.estimate(Prompt("Hi"))
        reply = await mind.think(Prompt("Hi"), session="s")
        await mind.close()

    assert estimate.cents > 0, "the dearer of the two is set aside"
    assert reply.usage == Usage(30, 1, 2, 30, 20, 10)


async def test_a_task_goes_on_with_the_second_and_recorded_steps_stay(tmp_path: Path) -> None:
    write = Call("write_file", json.dumps({"path": "a.txt", "text": "mine"}))
    async with Vendor() as first, Vendor() as second, pair(first, second, Seconds()) as mind:
        first.orders = [Order(Answer("I begin.", call=write)), DOWN["no credit"]]
        second.orders = [Order(Answer(GOOD))]
        async with World(tmp_path, brain=mind) as world:
            task = await world.add("Find me a park")
            await world.run(timedelta(hours=1))
            told = [log.sentence(each) for each in await world.app.db.read(events.of_task, task.id)]
            done = await world.get(task.id)

        assert done.status is Status.COMPLETED
        assert (len(first.heard), len(second.heard)) == (2, 1)
        (note,) = [each for each in told if "answered instead of" in each]
        assert note.endswith("has no credit left."), "there is nothing for the owner to approve"
        assert "a.txt is written" in second.heard[0].text, "it goes on where the first stopped"
        assert (done.spent.tokens or 0) > 0


@pytest.mark.parametrize("qualifies", [True, False])
async def test_only_a_model_that_passed_the_exam_reads_messages(
    qualifies: bool, tmp_path: Path
) -> None:
    marks = {"right": 40, "asked": 0, "wrong": 0, "without_model": 20}
    async with Vendor() as first, Vendor() as second, pair(first, second, Seconds()) as mind:
        first.orders = [DOWN["no credit"]]
        second.orders = [Order(Answer("I read nothing."))]
        labels = [mind.label, str(mind.fallback and mind.fallback.label)]
        for label, dangerous in zip(labels, (0, int(not qualifies)), strict=True):
            result = ExamResult(label, dangerous=dangerous, taken_at="2026-01-01", **marks)
            ExamFile(tmp_path).keep(result)
        async with World(tmp_path, brain=mind) as world:
            reader = world.app.model_reader
            assert reader is not None
            read = await reader.read("Remind me to call mum at 9", NOW, ZONE, BOOK)

        assert len(first.heard) == 1
        assert bool(second.heard) == qualifies
        assert read.tasks, "without a model the closed patterns read"


async def test_both_are_shown_and_both_are_examined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with Vendor() as first, Vendor() as second:
        first.orders = second.orders = [Order(Answer("I read nothing."))]
        monkeypatch.setenv("REMIT_HOME", str(tmp_path))
        (tmp_path / "settings.toml").write_text(
            f"""[brain]
model = "openai-chat:one"
base_url = "{first.url}/v1"
fallback = {{ model = "openai-chat:two", base_url = "{second.url}/v1" }}
"""
        )
        assert await asyncio.to_thread(run, ["brain"]) == 0
        shown = capsys.readouterr().out
        await asyncio.to_thread(run, ["brain", "test"])

        assert "openai-chat:one" in shown
        assert "fallback: openai-chat:two" in shown
        assert first.heard
        assert second.heard


@pytest.mark.parametrize("wrong", ['"nobody:x"', "{ base_url = 'https://a.example' }", "7"])
def test_a_fallback_that_cannot_be_read_is_refused_by_name(
    wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMIT_HOME", str(tmp_path))
    (tmp_path / "settings.toml").write_text(f"[brain]\nfallback = {wrong}\n")

    assert run(["brain", "test"]) == 2
    assert "fallback" in capsys.readouterr().err
