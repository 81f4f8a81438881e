"""Single values stored by name: progress marks and switches."""

from remit.store import rows
from remit.store.database import Tx


def get(tx: Tx, key: str) -> str | None:
    row = tx.one("get_meta", {"key": key})
    return None if row is None else str(row["value"])


def put(tx: Tx, key: str, value: str) -> None:
    tx.run("set_meta", {"key": key, "value": value})


def delete(tx: Tx, key: str) -> bool:
    """Delete a value; False if there was none."""
    return tx.run("delete_meta", {"key": key}) == 1


def starting_with(tx: Tx, prefix: str) -> dict[str, str]:
    """Return all values whose keys have this prefix, by the rest of the key."""
    found = tx.all("list_meta", rows.prefix_range(prefix))
    return {str(row["key"]).removeprefix(prefix): str(row["value"]) for row in found}
