"""An app with WhatsApp, mail and contacts, for saying things."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from remit.brain.think import NoBrain
from remit.intake.message import MessageResult, OwnerMessage
from remit.model.contract import ClauseOutcome
from remit.model.ids import TaskId
from remit.model.review import Review, ReviewAnswer
from remit.model.status import Reason
from remit.model.task import Source, SourceKind, Task
from remit.ports import Brain, Channel
from remit.settings import DeliverSettings, Settings
from remit.store import audit
from remit.store.database import Tx
from remit.testing import Outbox, World

BOOK: Final = """\
- name: Bob
  channels: {whatsapp: "+1555", email: bob@example.org}
- name: Anna Weber
  channels: {email: anna@example.org}
- name: Anna Schmidt
  channels: {email: schmidt@example.org}
- name: Mum
  aliases: [mom, mama, mamá]
  channels: {whatsapp: "+1777"}
"""


class Talk(World):
    """A world whose clock shows ten in Berlin, on Monday 2 March 2026."""

    def __init__(self, home: Path, *, brain: Brain | None = None, book: str = BOOK) -> None:
        (home / "contacts.yaml").write_text(book)
        self.whatsapp, self.email = Outbox("whatsapp"), Outbox("email")
        channels: Mapping[str, Channel] = {"whatsapp": self.whatsapp, "email": self.email}
        told = DeliverSettings(undo=0)
        settings = Settings(home=home, owner="Hanan", zone="Europe/Berlin", deliver=told)
        super().__init__(home, brain=brain or NoBrain(), channels=channels, settings=settings)

    async def say(self, text: str, key: str = "key:1", **more: object) -> MessageResult:
        message = OwnerMessage(text=text, source=Source(SourceKind.MANUAL, key))
        return await self.app.intake.hear(replace(message, **more))

    async def one(self, text: str) -> Task:
        """Return the only task that some words become."""
        (task,) = (await self.say(text)).tasks
        return task

    async def answer(self, *said: str) -> Task:
        """Answer the oldest open question, once for each word; nothing else may be open then."""
        for each in said:
            await self.run()
            task = await self.decide((await self.asked())[0], ReviewAnswer.ANSWER, each)
        return task

    async def asked(self) -> list[Review]:
        return [each for each in await self.waiting() if each.reason is Reason.INPUT]

    async def days(self, days: float = 3) -> None:
        await self.run(timedelta(days=days))

    async def approve(self) -> None:
        """Approve everything that waits for it."""
        for review in await self.waiting():
            if review.reason is Reason.APPROVAL:
                await self.decide(review, ReviewAnswer.APPROVE)
        await self.run()

    async def complaints(self) -> list[str]:
        def look(tx: Tx) -> list[str]:
            return list(audit.complaints(tx))

        return await self.app.db.read(look)

    async def posted(self, task_id: TaskId) -> list[str | None]:
        """Return the texts of a task on the dashboard."""
        return [each.body for each in (await self.get(task_id)).delivery if each.sent_at]


def fates(task: Task) -> list[tuple[str, ClauseOutcome | None]]:
    assert task.request is not None
    return [(clause.text, clause.became) for clause in task.request.clauses]


def plans(task: Task) -> list[tuple[str, str | None, str | None]]:
    return [(each.channel, each.recipient, each.content) for each in task.delivery]
