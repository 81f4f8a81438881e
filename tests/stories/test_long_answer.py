"""A brain that answers with a book: its owner is told so, and nothing of it goes out."""

from pathlib import Path

from remit.brain.progress import KEPT_CHARS, MAX_ANSWER_CHARS
from remit.model.reply import Prompt, Reply
from remit.model.status import Status
from remit.ports import OnText
from remit.testing import Outbox, World

GOOD = "<deliverable>Lumphini Park.</deliverable>\n"


class Endless:
    """Says the whole of it in one breath, as a plug-in might."""

    text = GOOD + "- one, two and three\n" * (MAX_ANSWER_CHARS // 10)

    async def think(self, prompt: Prompt, *, session: str) -> Reply:
        del prompt, session
        return Reply(self.text)

    async def think_aloud(self, prompt: Prompt, *, session: str, on_text: OnText) -> Reply:
        await on_text(self.text)
        return await self.think(prompt, session=session)


async def test_an_answer_that_is_too_long_is_held_with_its_beginning(tmp_path: Path) -> None:
    outbox = Outbox()
    async with World(tmp_path, brain=Endless(), channels={"outbox": outbox}) as world:
        task = await world.add("Find a park", channel="outbox")
        await world.run()
        (review,) = await world.waiting()
        kept = await world.get(task.id)

    assert (kept.status, outbox.tried) == (Status.NEEDS_REVIEW, [])
    assert "longer than 1,000,000 characters, so only its beginning was kept" in review.question
    assert len(kept.tool_output or "") < KEPT_CHARS + 500
