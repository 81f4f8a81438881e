"""How urgent a model found a text: asked once, kept under the text's digest."""

from datetime import datetime
from typing import cast

from msgspec import Struct

from remit.store import rows
from remit.store.database import Params, Tx


class Score(Struct, frozen=True):
    """How urgent something is, from 0 to 1, and why."""

    score: float
    why: str


def get(tx: Tx, digest: str) -> Score | None:
    row = tx.one("get_score", {"digest": digest})
    return None if row is None else Score(cast("float", row["score"]), str(row["why"]))


def keep(tx: Tx, digest: str, score: Score, now: datetime) -> None:
    """Keep what was found; what is kept already stays."""
    kept: Params = {"digest": digest, "score": score.score, "why": score.why, "now": rows.ms(now)}
    tx.run("insert_score", kept)
