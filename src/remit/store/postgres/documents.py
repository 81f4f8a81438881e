"""Files that all machines use, as documents in the store: each change is a new version."""

from datetime import datetime

from msgspec import Struct

from remit.store import rows
from remit.store.database import Tx


class Document(Struct, frozen=True):
    name: str
    version: int
    content: str


def newest(tx: Tx) -> dict[str, Document]:
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


def put(tx: Tx, document: Document, place: str, now: datetime) -> bool:
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
