"""Removes secrets from what people and machines will read: logs, errors, events.

    hide = Redactor()
    hide.learn("s3cr3t-of-remit")
    hide("It said s3cr3t-of-remit.")        # "It said …."

A learnt value is removed in every encoding, and so are longer pieces of it. An unknown value is
removed if it looks like a key; `known` does not do that, for texts in the owner's words.
"""

import base64
import json
import logging
import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote

SHOWN: Final = "…"
_LEAST: Final = 4  # a shorter value looks like any other word
_PIECE: Final = 8  # this many characters of a key in a row would reveal it

_DIGIT: Final = r"(?=[A-Za-z_+/=.-]{0,40}\d)"  # a key has a digit, a mere word none
_NAMED: Final = r"password|passwd|passphrase|secret|api[_-]?key|token|signature|authorization"
_MARKS: Final = (
    r"sk-|[sr]k_(?:live|test)_|whsec_|gsk_|xai-|hf_|gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|"
    r"xapp-|AKIA|ASIA|AIza|GOCSPX-|ya29\.|npm_|pypi-|dop_v1_|shpat_|SG\.|EAA|AGE-SECRET-KEY-"
)
_LOOKS: Final = (
    (
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?:(?!-----END)[\s\S])*+(?:-----END[A-Z0-9 ]*-*)?",
        SHOWN,
    ),
    (rf"(?<![A-Za-z0-9])(?:{_MARKS}){_DIGIT}[\w+/=.-]{{8,}}+", SHOWN),
    (r"(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+)?", SHOWN),
    (r"(?<!\d)\d{6,12}:[A-Za-z0-9_-]{30,}+", SHOWN),
    (rf"(?i)\b(bearer|basic) {_DIGIT}[A-Za-z0-9._~+/=-]{{8,}}+", rf"\1 {SHOWN}"),
    (r"://[^\s/@:]{0,256}+:[^\s/@]{1,256}+@", f"://{SHOWN}@"),
    (
        rf"""(?i)((?:{_NAMED})["']?\s{{0,3}}[:=]\s{{0,3}}["']?)(?!bearer\b|basic\b)[^\s"'&,;…]{{4,}}+""",
        rf"\1{SHOWN}",
    ),
)
_SHAPES: Final = tuple((re.compile(shape), shown) for shape, shown in _LOOKS)


class Redactor:
    """Knows secret values and removes them from texts."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._whole: set[str] = set()  # in every encoding it may appear in
        self._pieces: set[str] = set()
        for value in values:
            self.learn(value)

    def learn(self, value: str) -> None:
        """Remove this value from now on."""
        if len(value) >= _LEAST and value not in self._whole:
            self._whole |= {form for form in _forms(value) if len(form) >= _LEAST}
            self._pieces |= set(_pieces(value))

    def __call__(self, text: str) -> str:
        """Return the text without known secrets and without anything that looks like a key."""
        text = self.known(text)
        for shape, shown in _SHAPES:
            text = shape.sub(shown, text)
        return text

    def known(self, text: str) -> str:
        """Return the text without known secrets."""
        # Longest first: a secret may contain another.
        for form in sorted(self._whole, key=len, reverse=True):
            text = text.replace(form, SHOWN)
        return self._without_pieces(text) if self._pieces else text

    def _without_pieces(self, text: str) -> str:
        kept: list[str] = []
        last, hidden = 0, 0  # where kept text continues, and where a piece ends
        for start in range(len(text) - _PIECE + 1):
            if text[start : start + _PIECE] in self._pieces:
                if start >= hidden:
                    kept += [text[last:start], SHOWN]
                last = hidden = start + _PIECE
        return "".join([*kept, text[last:]])

    def __repr__(self) -> str:
        return "Redactor(…)"


class RedactingFilter(logging.Filter):
    """A log filter that removes secrets from every record."""

    def __init__(self, hide: Redactor) -> None:
        super().__init__()
        self._hide = hide

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self._hide(record.getMessage()), ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = self._hide(record.exc_text)
        if record.stack_info:
            record.stack_info = self._hide(record.stack_info)
        return True


def _forms(value: str) -> Iterator[str]:
    """Yield the forms in which a value may appear in a text."""
    raw = value.encode("utf-8", "surrogatepass")
    yield value
    yield from (line.strip() for line in value.splitlines() if "-----" not in line)
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield repr(value)[1:-1]
    yield quote(raw, safe="")
    yield quote(raw)
    yield base64.b64encode(raw).decode().rstrip("=")
    yield base64.urlsafe_b64encode(raw).decode().rstrip("=")
    yield raw.hex()


def _pieces(value: str) -> Iterator[str]:
    """Yield pieces that no text contains by chance: mixed letters and digits."""
    for start in range(len(value) - _PIECE + 1):
        piece = value[start : start + _PIECE]
        mixed = any(map(str.isdigit, piece)) and any(map(str.isalpha, piece))
        if mixed and not any(map(str.isspace, piece)):
            yield piece
