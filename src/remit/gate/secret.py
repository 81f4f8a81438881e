"""Finds keys and passwords: by the formats of vendors, and Remit's own secrets by value.

The sentence that reports a secret never repeats it.
"""

import base64
import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Final, cast

from msgspec import Struct

from remit.gate.eye import HoldReason, Objection, fold, known_words, line
from remit.language.files import read_toml


class _Shape(Struct, frozen=True):
    """A key format.

    `sign` is in every secret of this format, so that most texts are skipped quickly.
    """

    what: str
    sign: str
    pattern: re.Pattern[str]


_TABLE: Final = cast(
    "list[tuple[str, str, str]]", read_toml("secret_shapes", "remit.gate")["shapes"]
)
_SHAPES: Final = tuple(_Shape(what, sign, re.compile(shape)) for what, sign, shape in _TABLE)


# A placeholder is recognised as a whole: it consists of these words, or of one repeated sign. A
# text that only contains such a word may be a real secret.
_SAYS_EXAMPLE: Final = frozenset(known_words("example"))
_GOES_WITH_IT: Final = frozenset(known_words("around_example"))
_AROUND: Final = (("{{", "}}"), ("<", ">"), ("{", "}"), ("[", "]"), ("%", "%"), ("$", ""))
_REST: Final = re.compile(r"[\w-]{0,256}+")
_BETWEEN: Final = re.compile(r"[ _.-]++")
_VARIABLE: Final = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]{0,63}+\}\Z")
_PREFIX: Final = 12  # characters that a vendor puts in front of every key
_MIN_DIFFERENT_SIGNS: Final = 3  # different signs

_MIN_CHARACTERS: Final = 4  # shorter, and it cannot be told from any other word
_LONG: Final = 8  # from here on it is known in disguise, too
_URL_SAFE: Final = str.maketrans("+/", "-_")
_SPACE: Final = re.compile(r"\s++")
_NOT_WORD: Final = re.compile(r"[\W_]++")
_CODED: Final = re.compile(r"(?:%|\\x|&#x|\\u00)([0-9a-fA-F]{2});?+|&#(\d{2,3}+);?+")


def objection(plain: str, known: Collection[str]) -> Objection | None:
    """Object to a secret in a folded text, by value or by format."""
    if _holds_any(plain, known):
        sentence = "It contains a key or password that Remit works with."
        return Objection(sentence, HoldReason.SECRET)
    for shape in _SHAPES:
        found = _first(plain, shape) if shape.sign in plain else None
        if found:
            where = line(plain, found.start())
            return Objection(f"Line {where} holds what looks like {shape.what}.", HoldReason.SECRET)
    return None


def _first(text: str, shape: _Shape) -> re.Match[str] | None:
    found = shape.pattern.finditer(text)
    return next((match for match in found if not _is_example(_token(text, match))), None)


def _token(text: str, match: re.Match[str]) -> str:
    """Return the whole match: a format reads only as far as it must."""
    if match.re.groups:
        rest = _REST.match(text, match.end(1)) if match.end(1) == match.end() else None
        return " " * _PREFIX + match[1] + (rest[0] if rest else "")
    rest = _REST.match(text, match.end())
    return match[0] + (rest[0] if rest else "")


def _is_example(token: str) -> bool:
    """Whether it stands for a secret and is none: sk-xxxx, YOUR_TOKEN, ${TOKEN}, user:password@."""
    if len(set(token[_PREFIX:].lower()) - set("-_")) <= _MIN_DIFFERENT_SIGNS:
        return True
    bare = token.strip()
    words = [word for word in _BETWEEN.split(_inner(bare).lower()) if word]
    says = [word in _SAYS_EXAMPLE for word in words]
    known = all(
        spoken or word in _GOES_WITH_IT or len(set(word)) == 1
        for spoken, word in zip(says, words, strict=True)
    )
    return bool(_VARIABLE.match(bare)) or (any(says) and known)


def _inner(token: str) -> str:
    """Return the text between a placeholder's brackets, or all of it."""
    for left, right in _AROUND:
        if token.startswith(left) and token.endswith(right):
            return token[len(left) : len(token) - len(right)]
    return token


def _holds_any(text: str, secrets: Collection[str]) -> bool:
    """Whether a secret is in the text, plain, split, reversed or encoded."""
    if not secrets:
        return False
    close = _SPACE.sub("", text)
    loose = _letters(text) + " " + _letters(_CODED.sub(_decode_escape, text))
    return any(_is_in(_forms_of(secret), text, close, loose) for secret in secrets)


class _SecretForms(Struct, frozen=True):
    """The forms of a secret in a text: without spaces, and in disguise."""

    secret: str
    close: tuple[str, ...]
    loose: tuple[str, ...]


@lru_cache(maxsize=256)
def _forms_of(secret: str) -> _SecretForms:
    """Each text is held against all of them, and they are few."""
    plain = fold(secret).strip()
    close = (_SPACE.sub("", plain), *_base64_forms(plain))
    return _SecretForms(plain, close, tuple(x for x in _plain_disguises(plain) if len(x) >= _LONG))


def _is_in(forms: _SecretForms, text: str, close: str, loose: str) -> bool:
    secret = forms.secret
    if len(secret) < _LONG:
        alone = rf"(?<![^\W_]){re.escape(secret)}(?![^\W_])"
        return len(secret) >= _MIN_CHARACTERS and re.search(alone, text) is not None
    return any(form in close for form in forms.close) or any(form in loose for form in forms.loose)


def _letters(text: str) -> str:
    return _NOT_WORD.sub("", text).lower()


def _decode_escape(found: re.Match[str]) -> str:
    return chr(int(found[1], 16) if found[1] else int(found[2]))


def _plain_disguises(secret: str) -> tuple[str, ...]:
    bare = _letters(secret)
    return bare, bare[::-1], secret.encode("utf-8", "surrogatepass").hex()


def _base64_forms(secret: str) -> Iterator[str]:
    """Yield the secret as it looks within base64 of a longer text, at each offset."""
    for shift in range(3):
        coded = base64.b64encode(bytes(shift) + secret.encode("utf-8", "surrogatepass")).decode()
        # The first and last group may hold bits of the neighbours: leave them out.
        inner = coded[4 if shift else 0 : -4]
        if len(inner) >= _LONG:
            yield inner
            yield inner.translate(_URL_SAFE)
