"""What earlier work like this came to, in a few words for the brain.

Only what was completed is told, each piece with the taint of the work it came from; that raises the
taint of whoever reads it. There is room for little: what is told in every prompt is paid for there.
"""

from datetime import tzinfo
from typing import Final

from msgspec import Struct

from remit.model.likeness import SimilarTask
from remit.model.reply import Snippet
from remit.model.status import Status
from remit.model.task import Task
from remit.model.visibility import may_see
from remit.recall import words
from remit.recall.finder import TaskFinder

MOST: Final = 4
MOST_CHARACTERS: Final = 2_400  # of all together
_ASKED: Final = 240
_CAME: Final = 480


class Reminders(Struct, frozen=True):
    finder: TaskFinder
    zone: tzinfo

    async def of(self, task: Task) -> tuple[Snippet, ...]:
        """The best first, as many as there is room for."""

        def fits(other: Task) -> bool:
            return other.status is Status.COMPLETED and may_see(task, other)

        found = await self.finder.like(task, MOST, fits)
        room, told = MOST_CHARACTERS, list[Snippet]()
        for each in found:
            snippet = self._snippet(each)
            room -= len(snippet.title) + len(snippet.text)
            if room < 0:
                break
            told.append(snippet)
        return tuple(told)

    def _snippet(self, alike: SimilarTask) -> Snippet:
        task = alike.task
        day = words.day(task.completed_at or task.created_at, self.zone)
        sent = [each.body for each in task.delivery if each.body and each.sent_at]
        came = words.line(sent[0] if sent else task.result_summary or "", _CAME)
        asked = words.line(task.instructions, _ASKED)
        text = f"{asked} — {came}" if asked != task.title.strip() else came
        return Snippet(task.id, f"{day} {task.title}", text, alike.taint)
