"""What several machines share: documents, copies of unfinished work, fingerprints of secrets."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, cast

from msgspec import Struct

from remit.model.ids import TaskId
from remit.store import meta, rows
from remit.store.database import Tx

# Files that all machines use: each change is a new version ----------------------------------------


class Document(Struct, frozen=True):
    name: str
    version: int
    content: str


def newest_documents(tx: Tx) -> dict[str, Document]:
    """Return the newest version of each document."""
    found = tx.ask(
        "SELECT DISTINCT ON (name) name, version, content FROM documents"
        " ORDER BY name, version DESC"
    )
    known = (
        Document(str(row["name"]), rows.number(row["version"]), str(row["content"]))
        for row in found
    )
    return {each.name: each for each in known}


def put_document(tx: Tx, document: Document, place: str, now: datetime) -> bool:
    """Add a version, which follows on the one before; False if another process was quicker."""
    return bool(
        tx.ask(
            "INSERT INTO documents (name, version, content, place, at)"
            " SELECT ?, ?, ?, ?, ? WHERE ? ="
            " (SELECT COALESCE(MAX(version), 0) + 1 FROM documents WHERE name = ?)"
            " ON CONFLICT DO NOTHING RETURNING version",
            (
                document.name,
                document.version,
                document.content,
                place,
                rows.ms(now),
                document.version,
                document.name,
            ),
        )
    )


# Unfinished code work, so that every machine can go on with it ------------------------------------


class WorkCopy(Struct, frozen=True):
    """What was in a task's folder: a commit on its base, as a git bundle without the base."""

    commit: str
    bundle: bytes


def put_work_copy(tx: Tx, task_id: TaskId, lease: int, copy: WorkCopy) -> None:
    """Replace a task's copy, unless another leg has it now; forget those of ended tasks."""
    tx.ask(
        "DELETE FROM work_copies WHERE task_id IN"
        " (SELECT id FROM tasks WHERE status IN ('completed', 'failed', 'cancelled'))"
    )
    tx.ask(
        "INSERT INTO work_copies (task_id, commit_id, bundle)"
        " SELECT id, ?, ? FROM tasks WHERE id = ? AND lease = ?"
        " ON CONFLICT (task_id) DO UPDATE"
        " SET commit_id = excluded.commit_id, bundle = excluded.bundle",
        (copy.commit, copy.bundle, task_id, lease),
    )


def work_copy_commit(tx: Tx, task_id: TaskId) -> str | None:
    """Return the commit of a task's copy, without its bundle."""
    found = tx.ask("SELECT commit_id FROM work_copies WHERE task_id = ?", (task_id,))
    return next((str(row["commit_id"]) for row in found), None)


def get_work_copy(tx: Tx, task_id: TaskId) -> WorkCopy | None:
    found = tx.ask("SELECT commit_id, bundle FROM work_copies WHERE task_id = ?", (task_id,))
    return next(
        (WorkCopy(str(row["commit_id"]), cast("bytes", row["bundle"])) for row in found), None
    )


def remove_work_copy(tx: Tx, task_id: TaskId) -> None:
    tx.ask("DELETE FROM work_copies WHERE task_id = ?", (task_id,))


# Secrets, by keyed fingerprints: no value is stored -----------------------------------------------

TELL_SECONDS: Final = 30.0
_ALIVE: Final = timedelta(seconds=4 * TELL_SECONDS)  # since it last told
_KEY: Final = "fingerprint_key"
NO_SECRET: Final = ""  # the fingerprint of a secret that a process does not have


class SecretDifference(Struct, frozen=True):
    """A secret that is not the same everywhere: the processes with each value, most first."""

    name: str
    groups: tuple[tuple[str, ...], ...]
    without: tuple[str, ...]

    @property
    def sentence(self) -> str:
        text = [f"another value on {', '.join(some)}" for some in self.groups[1:]]
        text += [f"no value on {', '.join(self.without)}"] if self.without else []
        return f"{self.name} has {' and '.join(text)}; on {', '.join(self.groups[0])} it is set."

    @property
    def todo(self) -> str:
        return f"Run `remit secrets set {self.name}` on that machine, or set its variable there."


def fingerprint_key(tx: Tx, fresh: str) -> str:
    """Return the key of this store's fingerprints; the first caller's is kept."""
    tx.ask(
        "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO NOTHING", (_KEY, fresh)
    )
    return meta.get(tx, _KEY) or fresh


def tell_fingerprints(tx: Tx, place: str, known: Mapping[str, str], now: datetime) -> None:
    """Replace what a process told, and forget processes that are silent."""
    tx.ask(
        "DELETE FROM secret_fingerprints WHERE place = ? OR told_at < ?",
        (place, rows.ms(now - _ALIVE)),
    )
    for name, fingerprint in sorted(known.items()):
        tx.ask(
            "INSERT INTO secret_fingerprints (place, name, fingerprint, told_at)"
            " VALUES (?, ?, ?, ?) ON CONFLICT (place, name) DO UPDATE"
            " SET fingerprint = excluded.fingerprint, told_at = excluded.told_at",
            (place, name, fingerprint, rows.ms(now)),
        )


def differing_secrets(tx: Tx, now: datetime) -> tuple[SecretDifference, ...]:
    """Return the secrets that are not the same in all processes that live."""
    found = tx.ask(
        "SELECT place, name, fingerprint FROM secret_fingerprints WHERE told_at >= ?"
        " ORDER BY place",
        (rows.ms(now - _ALIVE),),
    )
    values: dict[str, dict[str, str]] = defaultdict(dict)
    for row in found:
        values[str(row["name"])][str(row["place"])] = str(row["fingerprint"])
    places = sorted({str(row["place"]) for row in found})
    compared = (_compare(name, values[name], places) for name in sorted(values))
    return tuple(each for each in compared if each is not None)


def _compare(
    name: str, values: Mapping[str, str], places: Sequence[str]
) -> SecretDifference | None:
    groups: dict[str, list[str]] = defaultdict(list)
    for place in places:
        groups[values.get(place, NO_SECRET)].append(place)
    if len(groups) == 1:
        return None
    without = tuple(groups.pop(NO_SECRET, ()))
    having = sorted(groups.values(), key=lambda some: (-len(some), some))
    return SecretDifference(name, tuple(map(tuple, having)), without)
