"""Wires recall: embedder, index, indexer and its users."""

import os
import shutil
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from remit.errors import BadInput, NotPossibleNow, RemitError
from remit.model import ids
from remit.model.codec import JsonMap
from remit.model.likeness import SimilarTask
from remit.model.task import Task
from remit.ports import Embedder, SnippetStore
from remit.recall.finder import Duplicates, Reminders, TaskFinder
from remit.recall.library import LibraryParts, RecallLibrary
from remit.recall.static import StaticEmbedder
from remit.settings import RecallSettings, Settings
from remit.store import recall, tasks
from remit.wiring.app_context import AppContext

if TYPE_CHECKING:
    from remit.recall.indexer import Indexer

FOLDER: Final = "recall"
LOOP: Final = "search index"
_LONGEST: Final = 2_000  # characters of a query
_SETTINGS: Final = "Set it under [recall] in settings.toml."


class SimilarTasks:
    """Everything about similar tasks. Off or broken, it searches words only and blocks nothing."""

    def __init__(self, context: AppContext) -> None:
        self._context = context
        self._library = self._chosen_library()
        self.finder = TaskFinder(context.db, self._library, context.redact)
        self.reminders = Reminders(self.finder, context.zone)
        self.twins = Duplicates(
            context.db, context.clock, context.zone, self.finder, context.redact
        )
        self._made: Indexer | None = None

    async def twin(self, task: Task) -> str | None:
        """Return the receipt's sentence for a task that looks like another."""
        wanted = self._context.settings.recall.twins
        return await self.twins.sentence(task) if wanted else None

    async def open(self) -> None:
        """Load the index and its model; errors show in `state`."""
        if self._library is not None and await self._context.db.read(recall.has_any):
            with suppress(RemitError):
                await self._library.open()

    async def like(self, words: str, most: int) -> list[SimilarTask]:
        """Return tasks like one, if its id is given, or like some words."""
        try:
            task_id = ids.task_id(words)
        except BadInput:
            return await self.finder.find(words[:_LONGEST], most)
        return await self.finder.like(await self._context.db.read(tasks.get, task_id), most)

    async def similar_if_ready(self, task: Task, most: int) -> list[SimilarTask]:
        """Return tasks like one, for a page that must not wait: none while the index opens."""
        library = self._library
        if library is None:
            return []
        if library.is_open:
            return await self.finder.like(task, most)
        if await self._context.db.read(recall.has_any):
            library.begin_to_open()
        return []

    @property
    def is_off(self) -> bool:
        return self._library is None

    async def apply(self, settings: Settings) -> None:
        """Switch to another embedder or store, or none; the old index is only closed."""
        self.finder.library = None
        await self.close()
        self._context = replace(self._context, settings=settings)
        self._made = None
        self._library = self._chosen_library()
        self.finder.library = self._library
        self.start()

    def _chosen_library(self) -> RecallLibrary | None:
        settings = self._context.settings
        return (
            None
            if settings.recall.is_off
            else RecallLibrary(self._context.db, library_parts(settings))
        )

    def start(self) -> None:
        """Keep the index up to date from now on."""
        if self._library is not None:
            self._context.background.start(LOOP, self._indexer(self._library).run)

    async def close(self) -> None:
        await self._context.background.stop(LOOP)
        if self._library is not None:
            if self._library.is_open and self._made is not None:
                with suppress(RemitError):
                    await self._made.tidy()
            await self._library.close()

    async def catch_up(self, report_progress: Callable[[], Awaitable[None]] | None = None) -> None:
        """Read everything that is not in the index yet, and return when done."""

        async def silent() -> None:
            """Report no progress."""

        await self._indexer(self._library_or_refuse()).catch_up(report_progress or silent)

    async def rebuild(self) -> None:
        """Empty the index. The loop or `catch_up` fills it again."""
        library, followed = self._library_or_refuse(), self._context.background.has(LOOP)
        await self._context.background.stop(LOOP)
        await self._empty(library)
        if followed:
            self.start()

    async def turn_off(self) -> None:
        """Stop and delete the index; the settings decide whether it starts again."""
        library, self._library, self.finder.library = self._library, None, None
        await self._context.background.stop(LOOP)
        if library is not None:
            await self._empty(library)
            await library.close()

    async def state(self) -> JsonMap:
        """Return the state as JSON."""
        extent = await self._context.db.read(recall.extent)
        library = self._library
        return {
            "on": library is not None,
            "store": library.name if library else "off",
            "embedder": embedder_name(self._context.settings.recall),
            "snippets": extent.held,
            "tasks": extent.tasks,
            "open": library is not None and library.is_open,
            "trouble": library.trouble if library else None,
        }

    async def _empty(self, library: RecallLibrary) -> None:
        with suppress(RemitError):  # a broken store is recreated when it is opened
            await library.open()
            await library.do(lambda store: store.clear())
        await self._context.db.write(recall.forget)
        await library.close()

    def _library_or_refuse(self) -> RecallLibrary:
        if self._library is None:
            raise NotPossibleNow(f"Recall is off. {_SETTINGS}", field="store")
        return self._library

    def _indexer(self, library: RecallLibrary) -> "Indexer":
        if self._made is None:
            from remit.recall.indexer import Indexer  # noqa: PLC0415 - for who keeps an index

            context = self._context
            self._made = Indexer(
                context.db,
                context.clock,
                context.journal,
                library,
                context.redact,
                self._note_duplicates,
            )
        return self._made

    async def _note_duplicates(self, some: Sequence[tuple[Task, Sequence[float]]]) -> None:
        if self._context.settings.recall.twins:
            await self.twins.arrived(some)


def library_parts(settings: Settings) -> LibraryParts:
    """Return how to make the embedder and the store of the settings."""
    chosen = settings.recall

    def store(size: int) -> SnippetStore:
        if chosen.store == "embedded":
            # An earlier version kept the words of the tasks there, with Qdrant's engine.
            shutil.rmtree(settings.home / FOLDER, ignore_errors=True)
            from remit.recall.vectors import VectorIndex  # noqa: PLC0415 - numpy, of 16 MB

            return VectorIndex(size)
        if chosen.store == "qdrant":
            from remit.recall.edge import EdgeStore  # noqa: PLC0415 - an extra, of 35 MB

            return EdgeStore(settings.home / FOLDER, size)
        from remit.recall import server  # noqa: PLC0415 - an extra

        return server.ServerStore(server.client(chosen.store, _key(chosen.store_key)), size)

    names = {"embedded": "Remit's database", "qdrant": "Qdrant in this process"}
    name = names.get(chosen.store, f"Qdrant at {chosen.store}")
    return LibraryParts(lambda: embedder(chosen), store, name)


def embedder(chosen: RecallSettings) -> Embedder:
    """Return the embedder of the settings."""
    if chosen.embedder:
        from remit.recall.server import RemoteEmbedder  # noqa: PLC0415 - for who has one

        return RemoteEmbedder(chosen.embedder, chosen.model, _key(chosen.embedder_key))
    return StaticEmbedder()


def embedder_name(chosen: RecallSettings) -> str:
    if chosen.embedder:
        return f"{chosen.model} at {chosen.embedder}"
    return "static vectors of all-MiniLM-L6-v2, with character n-grams"


def _key(name: str) -> str | None:
    """Return the key from a variable; a named variable must be set."""
    if not name:
        return None
    found = os.environ.get(name)
    if not found:
        raise BadInput(f"The variable {name} is named in [recall], and is not set.", field=name)
    return found
