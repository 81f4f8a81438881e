"""Finds text of others pasted below a request: it is material and asks for nothing.

The author of a forwarded message cannot give tasks, whatever the words look like.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from remit.language.phrases import Phrases, plain_phrases, words
from remit.language.tokens import Token, TokenKind, keys_of

_FORWARDED: Final = plain_phrases(
    "forwarded message|original message|begin forwarded message|forwarded by|fwd :|fw :",
    "weitergeleitete nachricht|ursprüngliche nachricht|originalnachricht|wg :",
    "anfang der weitergeleiteten nachricht|mensaje reenviado|mensaje original|rv :",
    "inicio del mensaje reenviado|forwarded",
)
_HEADS: Final = words(
    """from von de sent gesendet enviado date datum fecha subject betreff asunto to an para cc"""
)
_SENDERS: Final = words("from von de")
_RULES: Final = frozenset("-–—_=*>")
_NEAR: Final = 6  # words before which a line says that it was forwarded
_CHAT: Final = 14  # tokens of the date and the name before a line of a chat

Line = tuple[Token, ...]


def pasted_lines(tokens: Sequence[Token]) -> frozenset[int]:
    """The lines of a message that others wrote; none where nothing shows it."""
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
    """Whether a line comes out of a chat: "[04.03.26, 09:12] Anna: …"."""
    if len(line) < 3 or line[0].text != "[" or line[1].kind is not TokenKind.NUMBER:  # noqa: PLR2004
        return False
    texts = [token.text for token in line[:_CHAT]]
    return "]" in texts and ":" in texts[texts.index("]") :]


def _begins(lines: Sequence[Line], at: int) -> bool:
    """Whether a forwarded message begins with a line: by its words, or by its head."""
    keys = keys_of(lines[at])
    start = next((n for n, key in enumerate(keys) if key not in _RULES), len(keys))
    if _says(_FORWARDED, keys, start) and len(keys) - start <= _NEAR + start:
        return True
    if not _is_head(lines[at]):
        return False
    after = [line for line in lines[at + 1 : at + 4] if line]
    headed = bool(after) and _is_head(after[0])
    return headed or (keys[0] in _SENDERS and at > 0 and not lines[at - 1])


def _says(phrases: Phrases[bool], keys: Sequence[str], at: int) -> bool:
    found = phrases.at(keys, at)
    return found is not None and (at > 0 or keys[-1:] == (":",) or keys[found[1] - 1] == ":")


def _is_head(line: Line) -> bool:
    """Whether a line is one of the head of a letter: "From: Sue", "Betreff: Wandertag"."""
    return len(line) > 1 and line[0].key in _HEADS and line[1].text == ":" and line[0].capital
