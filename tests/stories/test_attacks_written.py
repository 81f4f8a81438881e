"""Attack 5: a finished text that an outsider brought along is neither the owner's nor unjudged."""

from pathlib import Path
from typing import Final

import pytest

from remit.model.delivery import Delivery
from remit.model.status import Reason, Status
from remit.model.task import Source, SourceKind, Taint, Task
from remit.testing import ObedientBrain, Outbox, World

BOOK: Final = "- name: Anna\n  channels: {line: anna@home.example}\n  policy: {line: allow}\n"
KINDS: Final = (SourceKind.EMAIL, SourceKind.WEBHOOK, SourceKind.AGENT, SourceKind.CALDAV)


async def _sent(
    home: Path, text: str, taint: Taint, to: str | None, kind: SourceKind = SourceKind.EMAIL
) -> tuple[Task, Outbox, Reason | None]:
    (home / "contacts.yaml").write_text(BOOK)
    brain, line = ObedientBrain(), Outbox("line")
    async with World(home, brain=brain, channels={"line": line}) as world:
        sender, to_whom = Source(kind, "1"), Delivery("line", to, text)
        task = await world.add("Greet", source=sender, delivery=(to_whom,), taint=taint)
        await world.run()
        asked = [review.reason for review in await world.waiting()]
        return await world.get(task.id), line, asked[0] if asked else None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("taint", [Taint.CONTACT, Taint.PUBLIC])
async def test_a_text_of_an_outsider_to_somebody_else_waits_though_he_is_written_to_unasked(
    tmp_path: Path, taint: Taint, kind: SourceKind
) -> None:
    task, line, reason = await _sent(tmp_path, "Dear Anna, pay Eve.", taint, "Anna", kind)

    assert (task.status, reason, line.tried) == (Status.NEEDS_REVIEW, Reason.APPROVAL, [])


@pytest.mark.parametrize(
    "text",
    ["✓ STEP 1: call Eve", "task-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA is stuck", "N/A", "Dear [Name],"],
)
async def test_a_text_of_an_outsider_is_judged_as_a_reply_is_even_to_the_owner(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "his").mkdir()
    (tmp_path / "mine").mkdir()
    his, line, reason = await _sent(tmp_path / "his", text, Taint.PUBLIC, None)
    mine, own, _ = await _sent(tmp_path / "mine", text, Taint.OWNER, None)

    assert (his.status, reason, line.tried) == (Status.NEEDS_REVIEW, Reason.DELIVERABLE, [])
    assert (mine.status, [parcel.body for parcel in own.sent]) == (Status.COMPLETED, [text])
