"""What the recall index has read, and tasks found by shared words.

Here stands which tasks are in the index and what was read of each, so that a crash, a rebuild and a
lost index all end in the same: what is missing is read again. The vectors of the index in this
process stand here, too; Qdrant keeps its own.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from remit.model.codec import JsonMap
from remit.model.ids import SessionId, TaskId
from remit.model.run import EventKind, NewEvent
from remit.model.status import Actor, Status
from remit.model.task import Taint, Task
from remit.store import events, meta, rows, tasks
from remit.store.database import Row, Tx, patient, quick, single

TWIN: Final = "twin"  # the `what` of an event that says that two tasks look alike
MOST_WORDS: Final = 12  # words of a text used, rarest first
_ENDINGS: Final = 12  # stored words that may share a beginning
_RARE: Final = 2_000  # tasks; a more common word costs more than it tells
_SHARE: Final = 8  # a word in every eighth task tells nothing either
_FEW: Final = 4  # but among this few tasks any word counts
_SHORTEST: Final = 4  # letters; shorter words tell nothing, except names and numbers
_STEM: Final = 5  # letters of a longer word that must match
_BEYOND: Final = 2**62  # above every task number
_MARK: Final = "recall:upto"
_BY: Final = "recall:by"


class IndexedDigest(Struct, frozen=True):
    """What the index has read of a task: digests of its words and its payload."""

    task_id: TaskId
    words: str
    beside: str
    vector: bytes | None = None  # where the index is in this process; None: as it was


class StoredVector(Struct, frozen=True):
    """The vector of a task that is not deleted, and what an index says of that task."""

    task_id: TaskId
    session_id: SessionId
    taint: Taint
    status: Status
    vector: bytes


class IndexExtent(Struct, frozen=True):
    """How many tasks the index holds, and how many there are."""

    held: int
    tasks: int


def look(tx: Tx, some: Sequence[TaskId]) -> list[tuple[Task, IndexedDigest | None]]:
    """Return tasks, including deleted ones, as far as the index reads them; and what it has read.

    They have no deliveries.
    """
    found = {
        row["id"]: (_without_deliveries(row), _digest(row))
        for row in tx.all("list_words_by_id", {"tasks": json.dumps(list(some))})
    }
    return [found[each] for each in some if each in found]


@quick
def list_by_id(tx: Tx, some: Sequence[TaskId]) -> list[Task]:
    """Return tasks in the order of their ids; missing ones are left out."""
    found = tasks.by_id(tx, some)
    return [found[each] for each in some if each in found]


@single
def list_completed(tx: Tx, some: Sequence[TaskId]) -> list[Task]:
    """Return the completed ones, as far as a reminder needs them: the sent text is the result."""
    found = {
        row["id"]: _without_deliveries(row)
        for row in tx.all("list_results_by_id", {"tasks": json.dumps(list(some))})
        if row["status"] == Status.COMPLETED
    }
    return [found[each] for each in some if each in found]


@single
def texts(tx: Tx, some: Sequence[TaskId]) -> dict[TaskId, str]:
    """Return title and instructions of some tasks, a line each."""
    found = tx.all("list_texts_by_id", {"tasks": json.dumps(list(some))})
    return {TaskId(str(row["id"])): f"{row['title']!s}\n{row['instructions']!s}" for row in found}


def unread(tx: Tx, below: int | None, limit: int) -> tuple[list[TaskId], int]:
    """Return tasks missing in the index, newest first, and the number to continue below."""
    params = {"below": _BEYOND if below is None else below, "limit": limit}
    found = tx.all("list_unread_tasks", params)
    last = rows.number(found[-1]["no"]) if found else 0
    return [TaskId(str(row["id"])) for row in found], last


@patient
def keep(tx: Tx, read: Sequence[IndexedDigest], gone: Sequence[TaskId], upto: int | None) -> None:
    """Record what the index read and removed; with `upto`, up to which event."""
    for each in read:
        read_now = {"task": each.task_id, "words": each.words, "beside": each.beside}
        tx.run("put_snippet", {**read_now, "vector": each.vector})
    for task_id in gone:
        tx.run("delete_snippet", {"task": task_id})
    if upto is not None:
        meta.put(tx, _MARK, str(upto))


def begin(tx: Tx, by: str, held: int) -> bool:
    """Compare with the opened index; False if another embedder made it.

    If it lacks something, everything is read again.
    """
    same = meta.get(tx, _BY) == by
    if not same or held < extent(tx).held:
        forget(tx)
        meta.put(tx, _BY, by)
    return same


def forget(tx: Tx) -> None:
    """Record that the index has read nothing."""
    tx.run("delete_snippets")
    for key in (_MARK, _BY):
        meta.delete(tx, key)


@single
def upto(tx: Tx) -> int | None:
    """Return up to which journal event the index is current; None before it began."""
    found = meta.get(tx, _MARK)
    return None if found is None else int(found or 0)


def extent(tx: Tx) -> IndexExtent:
    return rows.value(IndexExtent, rows.found(tx.one("count_snippets")))


@single
def has_any(tx: Tx) -> bool:
    return tx.one("has_snippets") is not None


def vectors(tx: Tx, after: str, limit: int) -> list[StoredVector]:
    """What the index in this process is made of, by the ids of the tasks; after one, some more."""
    found = tx.all("list_vectors", {"after": after, "limit": limit})
    return [rows.value(StoredVector, row) for row in found]


@patient
def propose(tx: Tx, task_id: TaskId, details: JsonMap, now: datetime) -> bool:
    """Journal once in a task's log that it looks like another."""
    if any(event.data.get("what") == TWIN for event in events.of_task(tx, task_id, limit=200)):
        return False
    entry = NewEvent(EventKind.TASK_UPDATED, Actor.META, {"what": TWIN, **details})
    events.tell_task(tx, task_id, entry, now)
    return True


def find_by_words(tx: Tx, text: str, limit: int) -> list[TaskId]:
    """Return tasks that share words, or their beginnings, with a text; best first."""
    terms = list(dict.fromkeys(term for group in _groups(tx, text) for term in group))
    if not terms:
        return []
    match = " OR ".join(f'"{term}"' for term in terms)
    found = tx.all("list_tasks_by_words", {"text": match, "limit": limit})
    return [TaskId(str(row["id"])) for row in found]


def _groups(tx: Tx, text: str) -> list[list[str]]:
    """For each useful word, return the stored words with the same beginning."""
    highest = rows.number(tx.all("highest_task")[0]["highest"] or 0)
    common = min(_RARE, max(_FEW, highest // _SHARE))
    groups: list[tuple[int, list[str]]] = []
    for word in dict.fromkeys(_folded_words(text)):
        endings = list(_endings(tx, word))
        hits = _hits(tx, endings, common) if endings else 0
        if 0 < hits <= common:
            groups.append((hits, endings))
    return [endings for _, endings in sorted(groups)[:MOST_WORDS]]


def _endings(tx: Tx, word: str) -> Iterator[str]:
    """Yield the stored words that begin like this one, as far as inflection goes."""
    stem = word[: max(_STEM, len(word) - 2)] if len(word) > _STEM else word
    at, longest = stem, len(word) + 3
    for _ in range(_ENDINGS):
        row = tx.one("find_word", {"from": at})
        if row is None or not str(row["term"]).startswith(stem):
            return
        term = str(row["term"])
        if term == word or (stem != word and len(term) <= longest):
            yield term
        at = f"{term}\x01"  # sorts before every other word with this beginning


def _hits(tx: Tx, terms: Sequence[str], most: int) -> int:
    match = " OR ".join(f'"{term}"' for term in terms)
    row = tx.all("count_hits", {"text": match, "most": most + 1})[0]
    return rows.number(row["hits"])


def _folded_words(text: str) -> Iterator[str]:
    """Yield the words of a text as the index stores them: without case and accents."""
    plain = unicodedata.normalize("NFD", text)
    bare = "".join(letter for letter in plain if not unicodedata.combining(letter))
    for word in re.findall(r"[^\W_]+", bare):
        short = len(word) < _SHORTEST
        if not short or (len(word) > 1 and (word.isupper() or not word.isalpha())):
            yield word.lower()


def _without_deliveries(row: Row) -> Task:
    context = row["context"]
    return rows.task_of_columns(row, context=json.loads(str(context)) if context else {})


def _digest(row: Row) -> IndexedDigest | None:
    if row["words"] is None:
        return None
    return IndexedDigest(TaskId(str(row["id"])), str(row["words"]), str(row["beside"]))
