"""States of earlier runs, one of each kind: made over real HTTP, then stored as golden files."""

import re
from typing import Final

from remit.model.reply import Prompt, Tool
from tests.live.place import Place, brain
from tests.live.vendor import Order, Vendor
from tests.live.wire import Answer, Call

QUESTION: Final = "Which park is open at six? ¿Y el domingo?"
ANSWER: Final = "I looked.\n<deliverable>Lumphini 🌳</deliverable>"
CALL: Final = Call("book", '{"park": "Lumphini", "people": 2}')


TOOLS: Final = (Tool("book", "Books a table in a park.", {"type": "object"}),)


async def made() -> dict[str, str]:
    """Return one state of each kind."""
    states: dict[str, str] = {}
    async with Vendor() as vendor:
        for place in Place:
            vendor.orders = [Order(Answer(ANSWER, thinking="Six is early."))]
            async with brain(vendor, place) as mind:
                reply = await mind.think(Prompt(QUESTION), session="ses-1")
            states[f"answered-{place}"] = reply.state
            vendor.orders = [Order(Answer("One moment.", call=CALL))]
            async with brain(vendor, place) as mind:
                reply = await mind.think(Prompt(QUESTION, tools=TOOLS), session="ses-1")
            assert len(reply.calls) == 1
            states[f"called-{place}"] = reply.state
    return {name: re.sub(r"http://[\d.:]+", "http://localhost", s) for name, s in states.items()}
