"""Which secrets the processes of one store have, by keyed fingerprints: no value is stored.

Each process tells its own. A process that has another value than the others, or none, is named, so
that a forgotten machine does not look like a broken provider.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from remit.store import meta, rows
from remit.store.database import Tx

TELL_SECONDS: Final = 30.0
_ALIVE: Final = timedelta(seconds=4 * TELL_SECONDS)  # since it last told
_KEY: Final = "fingerprint_key"
NONE: Final = ""  # the fingerprint of a secret that a process does not have


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


def tell(tx: Tx, place: str, known: Mapping[str, str], now: datetime) -> None:
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


def differing(tx: Tx, now: datetime) -> tuple[SecretDifference, ...]:
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
        groups[values.get(place, NONE)].append(place)
    if len(groups) == 1:
        return None
    without = tuple(groups.pop(NONE, ()))
    having = sorted(groups.values(), key=lambda some: (-len(some), some))
    return SecretDifference(name, tuple(map(tuple, having)), without)
