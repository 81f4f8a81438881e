"""The words of a search as the full-text index takes them.

The last word may be unfinished. A prefix search in SQLite collects every task of every matching
word first. So the prefix is expanded here to the words that begin with it, if they are few; each is
then read only as far as the list needs.
"""

import re
import unicodedata
from typing import Final

from msgspec import Struct

from remit.errors import BadInput
from remit.store import rows
from remit.store.database import Tx

MANY: Final = 10_000  # a word in more tasks than this is common
_ENDINGS: Final = 64  # words that an unfinished one may expand to
# For these letters it is certain how the index folds them.
_FOLDED: Final = re.compile(r"[0-9a-z]+")
_PLAIN: Final = re.compile(r"[0-9A-Za-z\u00c0-\u024f]+")


class SearchWords(Struct, frozen=True):
    match: str
    terms: int | None = None  # words probed per task; None: that needs a walk
    is_common: bool = False


def read(tx: Tx, text: str) -> SearchWords:
    """Parse search words: all must occur; the last may be unfinished. There are no operators."""
    # A vowel sign or an accent of its own belongs to the word before it.
    marked = "".join(each for each in text if unicodedata.category(each)[0] == "M")
    words: list[str] = re.findall(rf"\w[\w{re.escape(marked)}]*", text)
    if not words:
        raise BadInput("Search for at least one word.", field="q")
    endings = _endings(tx, words)
    quoted = " ".join(f'"{word}"' for word in words[:-1])
    if endings is None:
        return SearchWords(f'{quoted} "{words[-1]}"*'.lstrip())
    last = " OR ".join(f'"{word}"' for word in endings)
    match = f"{quoted} AND ({last})" if quoted else last
    return SearchWords(match, len(words) - 1 + len(endings), _is_common(tx, match))


def _endings(tx: Tx, words: list[str]) -> list[str] | None:
    """Return all stored words that begin like the last one; None if many or uncertain.

    Postgres has no list of its words and finds them by their beginning itself.
    """
    start = words[-1].lower()
    if not _FOLDED.fullmatch(start) or not all(map(_PLAIN.fullmatch, words[:-1])):
        return None
    found: list[str] = []
    at = start
    while (row := tx.one("find_word", {"from": at})) and str(row["term"] or at).startswith(start):
        if row["term"] is None or len(found) == _ENDINGS:
            return None
        found.append(str(row["term"]))
        at = f"{found[-1]}\x01"  # sorts before every other word with this beginning
    return found or [start]


def _is_common(tx: Tx, match: str) -> bool:
    row = tx.one("count_hits", {"text": match, "most": MANY + 1})
    return row is not None and rows.number(row["hits"]) > MANY
