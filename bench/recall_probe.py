"""A probe of recall: tasks of one owner in three languages, and questions in other words.

Four ways are asked, side by side: the model alone, the hybrid, the words that are shared, and the
plain full text of the lists, where every word must occur.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

import yaml

from remit.model.ids import TaskId
from remit.store import recall, search
from remit.triggers import cue_admission
from remit.wiring import App

FILE: Final = Path(__file__).parent.parent / "tests" / "recall" / "probe.yaml"
LANGUAGES: Final = ("en", "de", "es")
WAYS: Final = ("embedded", "hybrid", "shared words", "full text")
TOP: Final = 5


@dataclass(slots=True)
class Scores:
    """How many were asked in each language, and how many of those each way found."""

    asked: dict[str, int] = field(default_factory=dict)
    found: dict[str, dict[str, int]] = field(default_factory=lambda: {way: {} for way in WAYS})

    def share(self, way: str) -> float:
        """Recall at five, of the questions in the language of their task."""
        asked = sum(self.asked[each] for each in LANGUAGES)
        return sum(self.found[way][each] for each in LANGUAGES) / asked


@dataclass(frozen=True, slots=True)
class Probe:
    app: App
    tasks: Mapping[TaskId, str]
    queries: Mapping[str, list[tuple[str, str]]]

    @classmethod
    async def laid_out(cls, app: App) -> "Probe":
        """The tasks stored, and read into the index."""
        read = yaml.safe_load(FILE.read_text(encoding="utf-8"))
        tasks: dict[TaskId, str] = {}
        for name, text in cast("dict[str, str]", read["tasks"]).items():
            task = await app.intake.admit(cue_admission.cue(text, ref=name))
            tasks[task.id] = name
        await app.recollection.catch_up()
        both = {each: asked + read["unseen"][each] for each, asked in read["queries"].items()}
        return cls(app, tasks, both)

    async def scores(self) -> Scores:
        scores = Scores()
        for language, asked in self.queries.items():
            scores.asked[language] = len(asked)
            for way in WAYS:
                scores.found[way][language] = 0
            for wanted, text in asked:
                for way, found in (await self.ways(text)).items():
                    scores.found[way][language] += wanted in found[:TOP]
        return scores

    async def ways(self, text: str) -> dict[str, list[str]]:
        """What each way finds, the best first."""
        app = self.app
        finder = app.recollection.finder
        near = await finder.by_meaning(text, TOP)
        worded = await app.db.read(recall.find_by_words, text, TOP)
        hybrid = await finder.find(text, TOP)
        page = await app.db.read(search.page, search.TaskFilter(text=text, limit=TOP))
        found = {
            "embedded": [each.task_id for each in near],
            "hybrid": [each.task.id for each in hybrid],
            "shared words": worded,
            "full text": [each.id for each in page.tasks],
        }
        return {way: [self.tasks[each] for each in some] for way, some in found.items()}
