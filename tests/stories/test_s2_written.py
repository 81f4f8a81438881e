"""A text has a contract, too: what a brain makes up goes back to it, and never to the reader."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from remit.errors import NotFound
from remit.model.codec import Json
from remit.model.contract import ContractType, Overall
from remit.model.reply import Policy, Tool, ToolCall, ToolResult
from remit.model.review import ReviewAnswer
from remit.model.status import Reason, Status
from remit.model.task import Taint, Task
from remit.settings import Settings, ToolSettings
from remit.testing import ScriptedBrain, World, script
from tests.brain.tooling import once, use
from tests.sample_task import contract_of, verdict_of

ASK: Final = """\
Find out about the museum, with a source, in English:
- the opening hours
- the ticket price
- the address
- the phone number
- the nearest tram stop
"""
PAGE: Final = "https://museum.example/visit"
READ: Final = """\
Visit the museum. Opening hours: Tuesday to Sunday, 10:00 to 18:00. Tickets: adults €14.
Address: 27 Quay Street. Phone: +353 1 555 0142. The nearest tram stop is Smithfield.
"""
HONEST: Final = """\
The museum's opening hours are Tuesday to Sunday, 10:00 to 18:00.
The ticket price is €14.
The address is 27 Quay Street.
The phone number is +353 1 555 0142.
The nearest tram stop is Smithfield.

Source: https://museum.example/visit"""
SPANISH: Final = """\
El museo abre de martes a domingo, de 10:00 a 18:00, y cierra los lunes todo el día.
La entrada cuesta 14 € para las personas adultas y se compra en la taquilla.
La dirección del museo es 27 Quay Street, muy cerca del río.
El teléfono del museo es el +353 1 555 0142.
La parada de tranvía más cercana es Smithfield.

Source: https://museum.example/visit"""
_AGAIN: Final = """
You can visit the museum from Tuesday to Sunday between 10:00 and 18:00 for its opening hours.
The opening hours of the museum are 10:00 to 18:00, from Tuesday to Sunday.
The ticket price for the museum is €14, so the price of a ticket is €14.
The museum's ticket price is €14 for the museum.
The nearest tram stop of the museum is Smithfield, the nearest tram stop.
"""
MADE_UP: Final = {
    "grounded": HONEST.replace("€14", "€17"),
    "grounded, a page": HONEST.replace("€14.", "€14, to be booked at https://tickets.example/now."),
    "sources": HONEST.replace(PAGE, "The Irish Times"),
    "answers": HONEST.replace("The nearest tram stop is Smithfield.\n", ""),
    "language": SPANISH,
    "no-padding": HONEST.replace("\n\nSource", f"\n{_AGAIN}\nSource"),
}


class Reads:
    """Reads pages of a small web."""

    tool: Final = Tool(
        "read_page",
        "Read a page.",
        {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]},
    )
    may_repeat: Final = True
    warning: Final = ""

    def policy(self, task: Task) -> Policy:
        del task
        return Policy.ALLOW

    async def use(self, task: Task, call: ToolCall) -> ToolResult:
        del task
        if call.args.get("url") != PAGE:
            raise NotFound("page", str(call.args.get("url")))
        return ToolResult(call.id, READ, taint=Taint.PUBLIC)


def brain(*texts: str) -> ScriptedBrain:
    """One that reads the page and then writes, once for each text; the last one for good."""
    entries: list[Json] = []
    for text in texts:
        entries.append(once(use("read_page", url=PAGE)))
        entries.append({"reply": f"<deliverable>{text}</deliverable>", "times": 1})
    return script(entries)


async def asked(world: World) -> Task:
    task = await world.add(ASK)
    await world.run(timedelta(hours=1))
    return await world.get(task.id)


def sent(world: World) -> Sequence[str]:
    return [parcel.body for parcel in world.outbox.sent]


async def test_an_honest_answer_is_proven_and_sent(tmp_path: Path) -> None:
    ready = brain(HONEST)
    async with World(tmp_path, brain=ready, able=[Reads()]) as world:
        task = await asked(world)

        assert task.status is Status.COMPLETED, verdict_of(task)
        assert contract_of(task).type is ContractType.VERIFIABLE
        assert {each.activity for each in contract_of(task).criteria} >= {
            *("answers", "sources", "grounded", "language", "no-placeholder", "no-padding")
        }
        assert verdict_of(task).overall is Overall.PASS
        assert verdict_of(task).completed_at is not None
        assert sent(world) == [HONEST]


@pytest.mark.parametrize("made_up", MADE_UP)
async def test_what_is_made_up_goes_back_and_if_it_stays_to_the_owner_and_to_nobody_else(
    made_up: str, tmp_path: Path
) -> None:
    ready = brain(*[MADE_UP[made_up]] * 4)
    async with World(tmp_path, brain=ready, able=[Reads()]) as world:
        task = await asked(world)

        assert (task.status, task.reason) == (Status.NEEDS_REVIEW, Reason.VERIFICATION)
        assert made_up.partition(",")[0] in verdict_of(task).failed
        assert task.round == 3
        assert sum("Not proven yet" in each for each in ready.heard) > 0
        assert sent(world) == []
        (review,) = await world.waiting()
        assert review.evidence == MADE_UP[made_up]


@pytest.mark.parametrize("made_up", MADE_UP)
async def test_what_comes_back_mended_is_sent_once(made_up: str, tmp_path: Path) -> None:
    async with World(tmp_path, brain=brain(MADE_UP[made_up], HONEST), able=[Reads()]) as world:
        task = await asked(world)

        assert task.status is Status.COMPLETED
        assert sent(world) == [HONEST]


@pytest.mark.parametrize(
    "says_so",
    [
        use("write_file", path="notes.md", text="The ticket price is €17."),
        use("search_tasks", query="museum ticket €17"),
    ],
    ids=["in a file", "in a question"],
)
async def test_what_the_brain_said_itself_proves_nothing(says_so: Json, tmp_path: Path) -> None:
    turns: list[Json] = [
        once(use("read_page", url=PAGE), says_so),
        once(use("read_file", path="notes.md"), use("read_task_log")),
        {"reply": f"<deliverable>{MADE_UP['grounded']}</deliverable>", "times": 1},
    ]
    settings = Settings(home=tmp_path, tools=replace(ToolSettings(), write_file=Policy.ALLOW))
    async with World(tmp_path, brain=script(turns * 4), able=[Reads()], settings=settings) as world:
        task = await asked(world)

        assert task.reason is Reason.VERIFICATION
        assert verdict_of(task).failed == ("grounded",)
        assert sent(world) == []


async def test_over_a_restart_the_owner_may_still_take_it_as_it_is(tmp_path: Path) -> None:
    ready = brain(*[MADE_UP["grounded"]] * 4)
    async with World(tmp_path, brain=ready, able=[Reads()]) as world:
        await asked(world)
        await world.restart()
        (review,) = await world.waiting()

        await world.decide(review, ReviewAnswer.APPROVE)
        await world.run()

        assert sent(world) == [MADE_UP["grounded"]]
        assert (await world.get(review.task_id)).status is Status.COMPLETED


async def test_what_was_read_in_a_leg_before_a_restart_still_counts(tmp_path: Path) -> None:
    asks = once(use("read_page", url=PAGE), use("ask_owner", question="Shall I write it?"))
    ready = script([asks, {"reply": f"<deliverable>{HONEST}</deliverable>"}])
    async with World(tmp_path, brain=ready, able=[Reads()]) as world:
        await asked(world)
        await world.restart()
        (review,) = await world.waiting()
        await world.decide(review, ReviewAnswer.ANSWER, "yes")
        await world.run()

        assert sent(world) == [HONEST]
