"""What earlier runs left, of each kind there is: made over real HTTP, then kept as golden files."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from pydantic_ai import Agent, DeferredToolRequests, Tool
from pydantic_ai.conversation import Conversation

from remit.brain import history, vendors
from remit.model.reply import Prompt
from tests.live.place import Place, brain, choice
from tests.live.vendor import Order, Vendor
from tests.live.wire import Answer, Call

QUESTION: Final = "Which park is open at six? ¿Y el domingo?"
ANSWER: Final = "I looked.\n<deliverable>Lumphini 🌳</deliverable>"
CALL: Final = Call("book", '{"park": "Lumphini", "people": 2}')


@asynccontextmanager
async def agent(
    vendor: Vendor, place: Place, book: Callable[[str, int], str]
) -> AsyncIterator[Agent[object, str | DeferredToolRequests]]:
    """An agent with one tool that asks first."""
    found = choice(vendor, place)
    access = vendors.connect(next(iter(found.models.values())), found.limits)
    tool = Tool(book, name="book", requires_approval=True)
    yield Agent(access.model, output_type=[str, DeferredToolRequests], tools=[tool])
    await access.close()


def never(park: str, people: int) -> str:
    raise AssertionError(park, people)


async def made() -> dict[str, str]:
    """One state of each kind."""
    states: dict[str, str] = {}
    async with Vendor() as vendor:
        for place in Place:
            vendor.orders = [Order(Answer(ANSWER, thinking="Six is early."))]
            async with brain(vendor, place) as mind:
                turn = await mind.turn(Prompt(QUESTION), session="ses-1")
            states[f"answered-{place}"] = turn.state
            vendor.orders = [Order(Answer("One moment.", call=CALL))]
            async with agent(vendor, place, never) as asking:
                paused = await asking.run(QUESTION, conversation_id="ses-1")
            assert isinstance(paused.output, DeferredToolRequests)
            run = Conversation(
                messages=paused.new_messages(),
                usage=paused.usage,
                conversation_id="ses-1",
                deferred_tool_requests=paused.output,
            )
            states[f"paused-{place}"] = history.dump(run)
    return {name: re.sub(r"http://[\d.:]+", "http://localhost", s) for name, s in states.items()}
