"""One life of a Remit that tells its owner what became of things, and may be killed at any moment.

    REMIT_FAILPOINT=notice:claimed:2 python notices_worker.py HOME

The provider's file outlives it. Started again on the same HOME it goes on, until every task has
ended and every notice is told, or in doubt.
"""

import asyncio
import sys
from pathlib import Path
from typing import Final

from remit import wiring
from remit.brain.scripted import parse
from remit.failpoint import failpoint
from remit.model.conversation import NoticeState
from remit.model.delivery import Answer, Delivery, Parcel
from remit.model.task import Cue, Source, SourceKind
from remit.settings import DeliverSettings, NoticeSettings, Settings
from remit.store import notices, search
from remit.testing import FileOutbox
from remit.wiring import App

REFS: Final = ("done 1", "hopeless 1", "done 2", "hopeless 2")
WISHES: Final = NoticeSettings(done=("outbox", "conversation"), failed=("outbox",))


class Provider(FileOutbox):
    """Accepts a message, and may never answer."""

    async def send(self, parcel: Parcel) -> Answer:
        failpoint("request:half")
        answer = await super().send(parcel)
        failpoint("request:accepted")
        return answer


def cue(ref: str) -> Cue:
    source, out = Source(SourceKind.MANUAL, ref), (Delivery("dashboard"),)
    return Cue(source=source, title=ref, text=ref, delivery=out)


async def rests(app: App) -> bool:
    page = await app.db.read(search.page, search.TaskFilter(limit=100))
    if not all(task.ended for task in page.tasks):
        return False
    await app.talk.settled()
    told = await app.db.read(notices.recent)
    return len(told) >= len(REFS) and not any(
        each.state in (NoticeState.NEW, NoticeState.CLAIMED) for _, each in told
    )


async def live(home: Path) -> None:
    brain = parse(
        [{"when": "hopeless", "fail": "permanent"}, {"reply": "<deliverable>x</deliverable>"}]
    )
    settings = Settings(home=home, deliver=DeliverSettings(undo=0), notices=WISHES)
    channels = {"outbox": Provider(home / "provider.jsonl")}
    async with wiring.opened(settings, brain=brain, channels=channels) as app:
        app.herald.start()
        await app.engine.start()
        for ref in REFS:
            await app.intake.admit(cue(ref))
        while not await rests(app):  # noqa: ASYNC110 - nobody rings for all of it
            await asyncio.sleep(0.005)
        await app.engine.stop()


if __name__ == "__main__":
    asyncio.run(live(Path(sys.argv[1])))
