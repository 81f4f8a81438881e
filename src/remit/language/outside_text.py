"""Cleans text from outside for storage, and finds text of others below a request.

Pasted text is material and asks for nothing: the author of a forwarded message cannot give tasks.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from remit.language.files import phrases_in_all, words_in_all
from remit.language.tokens import Token, TokenKind, keys_of

MAX_BYTES: Final = 60_000  # of what came, beside what else is known of it
MAX_TITLE_CHARS: Final = 300
MAX_TEXT_CHARS: Final = 90_000
_CUT: Final = "\n[The rest was left out.]"


def title(text: str, otherwise: str = "Untitled event") -> str:
    """Return a text as one line for a title; the other text if nothing is left of it."""
    line = " ".join(clean(text).split()) or " ".join(clean(otherwise).split())
    return line if len(line) <= MAX_TITLE_CHARS else line[: MAX_TITLE_CHARS - 1] + "…"


def clean(text: str) -> str:
    """Return a text without characters that a task may not contain."""
    kept = (char for char in text[:MAX_TEXT_CHARS] if char in "\n\t" or _is_printable(char))
    return "".join(kept).strip()


def _is_printable(char: str) -> bool:
    return unicodedata.category(char) not in ("Cc", "Cs")


def bound_text(text: str, most: int = MAX_BYTES) -> str:
    """Return a clean text of at most the stored length."""
    kept = clean(text.replace("\r\n", "\n").replace("\r", "\n")[: 2 * most])
    raw = kept.encode()
    if len(raw) <= most:
        return kept
    return raw[: most - len(_CUT)].decode("utf-8", "ignore").rstrip() + _CUT


def one_line(text: str, most: int = 200) -> str:
    """Return a short name or id from outside as one line."""
    return " ".join(clean(text[: 10 * most]).split())[:most]


_RULES: Final = frozenset("-–—_=*>")
_NEAR: Final = 6  # words before which a line says that it was forwarded
_CHAT: Final = 14  # tokens of the date and the name before a line of a chat

Line = tuple[Token, ...]


def pasted_lines(tokens: Sequence[Token]) -> frozenset[int]:
    """Return the lines of a message that others wrote; none if nothing indicates it."""
    if not any(token.kind is TokenKind.LINE for token in tokens):
        return frozenset()
    lines = tuple(_lines(tokens))
    found = {n for n, line in enumerate(lines) if _is_quoted(line) or _is_chat(line)}
    start = next((n for n in range(len(lines)) if _begins(lines, n)), None)
    if start is not None:
        found.update(range(start, len(lines)))
    return frozenset(found)


def _lines(tokens: Sequence[Token]) -> Iterator[Line]:
    line: list[Token] = []
    for token in tokens:
        if token.kind is TokenKind.LINE:
            yield tuple(line)
            line = []
        else:
            line.append(token)
    yield tuple(line)


def _is_quoted(line: Line) -> bool:
    return bool(line) and line[0].text == ">"


def _is_chat(line: Line) -> bool:
    """Whether a line is from a chat: "[04.03.26, 09:12] Anna: …"."""
    if len(line) < 3 or line[0].text != "[" or line[1].kind is not TokenKind.NUMBER:  # noqa: PLR2004
        return False
    texts = [token.text for token in line[:_CHAT]]
    return "]" in texts and ":" in texts[texts.index("]") :]


def _begins(lines: Sequence[Line], at: int) -> bool:
    """Whether a line begins a forwarded message: by its words, or by its header."""
    keys = keys_of(lines[at])
    start = next((n for n, key in enumerate(keys) if key not in _RULES), len(keys))
    if _says_forwarded(keys, start) and len(keys) - start <= _NEAR + start:
        return True
    if not _is_head(lines[at]):
        return False
    after = [line for line in lines[at + 1 : at + 4] if line]
    headed = bool(after) and _is_head(after[0])
    return headed or (keys[0] in words_in_all("pasted", "senders") and at > 0 and not lines[at - 1])


def _says_forwarded(keys: Sequence[str], at: int) -> bool:
    found = phrases_in_all("pasted", "forwarded").at(keys, at)
    return found is not None and (at > 0 or keys[-1:] == (":",) or keys[found[1] - 1] == ":")


def _is_head(line: Line) -> bool:
    """Whether a line is from the header of a letter: "From: Sue", "Betreff: Wandertag"."""
    known = len(line) > 1 and line[0].key in words_in_all("pasted", "heads")
    return known and line[1].text == ":" and line[0].capital
