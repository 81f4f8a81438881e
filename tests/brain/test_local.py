"""The local model before its first thought: what it is asked for, and what it lacks."""

import tomllib
from pathlib import Path

import pytest
from msgspec.structs import replace

from remit import wiring
from remit.brain import local
from remit.brain.choose import ModelLimits, ModelRole, Vendor
from remit.brain.models import ModelBrain
from remit.brain.weights import ModelWeights
from remit.delivery.courier import Courier
from remit.model.delivery import Delivery
from remit.model.ids import DeliveryId
from remit.model.permit import Reach
from remit.model.reply import Policy, Prompt
from remit.model.status import Reason, Status
from remit.settings import BrainSettings, Settings
from remit.store import tasks
from remit.triggers import cue_admission
from remit.wiring import minds
from tests.live.place import brain_settings
from tests.model.lifecycle_checks import task_in

ROOT = Path(__file__).resolve().parents[2]
SMALL = ModelWeights("small", "small.gguf", "0" * 64, 1)
ME = Delivery("outbox", id=DeliveryId("dlv-me"))


def test_it_is_asked_for_what_it_can_do_alone(tmp_path: Path) -> None:
    (tmp_path / "small.gguf").touch()

    choice = local.choose_local_model(
        tmp_path, brain_settings(time_limit=9, token_limit=99_999), SMALL
    )

    assert {*choice.models} == {ModelRole.THINK, ModelRole.SUMMARISE}
    assert {model.vendor for model in choice.models.values()} == {Vendor.LOCAL}
    assert not any(model.has_tools for model in choice.models.values())
    assert choice.limits == ModelLimits(9, local.MAX_ANSWER_TOKENS)
    assert "all that it writes asks you first" in choice.sentence


def test_the_extra_asks_for_what_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = (ROOT / "requirements/local.in").read_text().splitlines()

    extra = project["optional-dependencies"]["local-model"]
    assert extra == [line for line in asked if line[0] != "#"]
    assert [line.partition(">=")[0] for line in extra] == [local._RUNTIME]


def test_a_limit_that_is_lower_holds(tmp_path: Path) -> None:
    assert (
        local.choose_local_model(tmp_path, brain_settings(token_limit=7), SMALL).limits.tokens == 7
    )


def test_weights_that_are_not_there_are_told(tmp_path: Path) -> None:
    choice = local.choose_local_model(tmp_path, brain_settings(), SMALL)

    assert not choice.ready
    assert "`remit brain use local`" in choice.sentence


async def test_without_its_runtime_a_task_waits_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "_RUNTIME", "no_such_runtime")
    settings = Settings(home=tmp_path, brain=BrainSettings(kind="local"))
    async with wiring.opened(settings) as house:
        await wiring.start(house)
        task = await house.intake.admit(cue_admission.cue("Find a beach", ref="1"))
        await house.engine.settled()
        waits = await house.db.read(tasks.get, task.id)
        (asked,) = await house.inbox.waiting()
        await house.engine.stop()

    assert (waits.status, asked.reason, house.thinks) == (Status.NEEDS_REVIEW, Reason.AUTH, False)
    assert "pip install 'remit[local-model]'" in asked.question


async def test_a_brain_without_a_model_has_no_tools(tmp_path: Path) -> None:
    mind = ModelBrain(local.choose_local_model(tmp_path, brain_settings(), SMALL))

    assert not mind.has_tools
    assert (await mind.think(Prompt("Hi"), session="s")).ask


def test_to_wait_for_its_turn_is_not_to_be_stuck(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, brain=BrainSettings(kind="local"))
    engine, brain = settings.engine, settings.brain

    assert minds.patient(settings).step_limit >= engine.parallel * brain.time_limit
    assert minds.patient(replace(settings, brain=BrainSettings())) == engine


@pytest.mark.parametrize("recipient", [None, "mum"])
@pytest.mark.parametrize("asks_first", [False, True])
async def test_what_asks_first_may_not_even_be_sent_to_the_owner(
    recipient: str | None, *, asks_first: bool
) -> None:
    courier, delivery = Courier({}), replace(ME, recipient=recipient)
    way = courier.reach(delivery, recipient)
    assert isinstance(way, Reach)

    leave = await courier.leave(task_in(Status.DELIVERING), delivery, way, asks_first=asks_first)

    assert (leave.policy is Policy.ALLOW) is (recipient is None and not asks_first)
