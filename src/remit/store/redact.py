"""Removes secrets from what people and machines will read: logs, errors, events.

    hide = Redactor()
    hide.learn("s3cr3t-of-remit")
    hide("It said s3cr3t-of-remit.")        # "It said …."

A learnt value is removed in every encoding, and so are longer pieces of it. An unknown value is
removed if it looks like a key; `known` does not do that, for texts in the owner's words.
"""

import base64
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Final
from urllib.parse import quote, unquote

from msgspec import Struct, convert

from remit.language.files import read_toml

SHOWN: Final = "…"
_LEAST: Final = 4  # a shorter value looks like any other word
_PIECE: Final = 8  # this many characters of a key in a row would reveal it

_DIGIT: Final = r"(?=[A-Za-z_+/=.-]{0,40}\d)"  # a key has a digit, a mere word none
_NAMED: Final = (
    r"(?:pass(?:word|wort|wd|phrase)|kennwort|contrase[nñ]a|mot de passe|senha|wachtwoord|secret"
    r"|credentials?|api[_-]?key|token|signature|authorization|(?<=_)(?:pass|pwd|pat|dsn)"
    r"|(?:db|ssh|smtp|root|user|mysql|pg|ftp|imap)(?:pass|pwd|pw))\d{0,3}"
)
_MARKS: Final = (
    r"sk-|[sr]k_(?:live|test)_|whsec_|gsk_|xai-|hf_|gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|"
    r"xapp-|AKIA|ASIA|AIza|GOCSPX-|ya29\.|npm_|pypi-|dop_v1_|shpat_|SG\.|EAA|AGE-SECRET-KEY-"
)
_WHOLE_KEYS: Final = 4  # so many shapes are a whole key
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


@cache
def _shapes() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return what finds keys, and what is shown instead; compiled at the first text."""
    return tuple((re.compile(shape), shown) for shape, shown in _LOOKS)


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

    def forget(self, value: str) -> None:
        """Keep a value no longer that is worth nothing any more, such as an old access token."""
        self._whole -= set(_forms(value))
        if not any(map(str.isspace, value)):  # the words of a longer value may still count
            self._pieces -= set(_pieces(value))

    def __call__(self, text: str) -> str:
        """Return the text without known secrets and without anything that looks like a key."""
        text = self.known(text)
        for shape, shown in _shapes():
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


SHORTEST: Final = 8  # characters; a shorter value looks like any other word
_SHORTEST_IN_ADDRESS: Final = 16  # a part of an address that works as a key without a name
_SHORTEST_LINE: Final = 24  # one line of a multi-line key


_NOT_A_WORD: Final = re.compile(r"[^A-Za-z0-9]+")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ADDRESS: Final = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]{1,30}://((?:(?!,\w{2,20}://)[^/?#\s])*)((?:(?!,\w{2,20}://)\S)*)"
)
_RANDOM: Final = re.compile(
    r"(?=[A-Za-z+/]{0,64}\d)(?=[\d+/]{0,64}[A-Za-z])[A-Za-z0-9+/]{12,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-"
)
_PAIR: Final = re.compile(r"(?:^|[\s;,&?])([A-Za-z][\w -]{0,40}?)\s?=\s?([^\s;,&]+)")
_PATH: Final = re.compile(r"(?:~?/|\.{1,2}/|[A-Za-z]:[\\/])")
_SEPARATOR: Final = re.compile(r"[/\\]")
# Random letters and digits: capitals, small letters and digits change places all the time.
_DENSE: Final = re.compile(r"[A-Za-z0-9]{18,}")
_LEAST_CHANGES: Final = 0.4  # for each character
_LOGIN: Final = re.compile(
    r"[^\s:/@]{1,64}:([^\s@/]{8,256})@[A-Za-z\[(]"
)  # user:password@tcp(host)


class _Names(Struct, frozen=True):
    """Which parts of a name say that its value is secret; explained in the file."""

    endings: tuple[str, ...]
    not_endings: frozenset[str]
    words: frozenset[str]
    maybe: frozenset[str]
    keys: frozenset[str]
    kinds_of_key: frozenset[str]
    public: frozenset[str]
    about: frozenset[str]
    which: frozenset[str]
    everyday: frozenset[str]


@cache
def _names() -> _Names:
    return convert(read_toml("secret_names", "remit.store"), _Names)


def secret_values(environ: Mapping[str, str]) -> frozenset[str]:
    """Return every secret in an environment; none may be sent or logged."""
    return frozenset(
        value for name, whole in environ.items() for value in _values(name, whole.strip())
    )


def without_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a child process without secrets may have."""
    return {name: value for name, value in environ.items() if not any(_values(name, value.strip()))}


def lines_of(value: str) -> Iterator[str]:
    """Yield a secret, and each long line of a multi-line one."""
    yield value
    for line in value.replace("\\n", "\n").splitlines()[:200]:
        if len(line.strip()) >= _SHORTEST_LINE and "-----" not in line:
            yield line.strip()


def _values(name: str, value: str) -> Iterator[str]:
    sure, maybe, public = _says_secret(name)
    addresses = list(_ADDRESS.finditer(value))
    for address in addresses:
        yield from _of_address(address, named=sure or maybe)
    login = None if addresses else _LOGIN.match(value)
    if login:
        yield login[1]
    if addresses or login:
        return
    yield from (
        each[2] for each in _PAIR.finditer(value) if _is_secret(*_says_secret(each[1]), each[2])
    )
    if _is_secret(sure, maybe, public, value):
        yield from lines_of(value)


def _says_secret(name: str) -> tuple[bool, bool, bool]:
    """Return whether a name surely means a secret, whether it may mean one, and neither."""
    known = _names()
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    parts = _NOT_A_WORD.split(_CAMEL.sub("_", plain).upper())
    words = [word for part in parts if (word := part.rstrip("0123456789"))]
    while len(words) > 1 and words[-1] in known.which:
        words.pop()
    named = [_names_secret(word) for word in words]
    if not any(named) and not known.public.isdisjoint(words):
        return False, False, True
    joined = "".join(words).endswith(known.endings) and words[-1] not in known.not_endings
    maybe = any(named) or joined or not known.maybe.isdisjoint(words)
    is_key = bool(words) and words[-1] in known.keys
    kind = any(named) or not known.kinds_of_key.isdisjoint(words)
    first = named[:1] == [True] and known.about.isdisjoint(words)
    return joined or first or named[-1:] == [True] or (is_key and kind), maybe, False


def _names_secret(word: str) -> bool:
    known = _names()
    return word in known.words or (word.endswith(known.endings) and word not in known.not_endings)


def _is_secret(sure: bool, maybe: bool, public: bool, value: str) -> bool:
    everyday = value.lower() in _names().everyday
    if public or len(value) < SHORTEST or everyday or _is_path(value):
        return False
    return sure or (maybe and _looks_random(value)) or _is_dense(value)


def _is_dense(value: str) -> bool:
    """Whether a value is random whatever its name: a vendor's key, or letters without any order."""
    if any(shape.fullmatch(value) for shape, _ in _shapes()[:_WHOLE_KEYS]):
        return True
    return any(map(_has_no_order, _DENSE.findall(value)))


def _has_no_order(run: str) -> bool:
    kinds = ["d" if sign.isdigit() else "u" if sign.isupper() else "l" for sign in run]
    changes = sum(one != two for one, two in pairwise(kinds))
    return len(set(kinds)) == len("dul") and changes >= _LEAST_CHANGES * len(run)


def _is_path(value: str) -> bool:
    """Whether a value is a file path; base64 may begin with a slash, too."""
    if not _PATH.match(value) or "\n" in value:
        return False
    return not any(
        len(each) >= _SHORTEST_IN_ADDRESS and _looks_random(each) and _is_mixed_case(each)
        for each in _SEPARATOR.split(value)
    )


def _looks_random(value: str) -> bool:
    """Whether a value looks random: a long run of mixed letters and digits."""
    if "-----BEGIN" in value:
        return "PRIVATE KEY" in value
    return bool(_RANDOM.search(value))


def _is_mixed_case(value: str) -> bool:
    return any(map(str.isupper, value[1:])) and any(map(str.islower, value))


def _of_address(address: re.Match[str], *, named: bool) -> Iterator[str]:
    """Yield the password of an address, or the key in place of a user; if named, long parts too."""
    user, at, _ = address[1].rpartition("@")
    who, colon, password = user.partition(":")
    found = {password if colon else who} if at else set()
    if not colon:
        found = {each for each in found if len(each) >= _SHORTEST_IN_ADDRESS}
    found |= {
        each[2]
        for each in _PAIR.finditer(address[2])
        if _is_secret(*_says_secret(each[1]), each[2])
    }
    if named:
        parts = _SEPARATOR.split(address[2].partition("?")[0])
        found |= {
            each for each in parts if len(each) >= _SHORTEST_IN_ADDRESS and _looks_random(each)
        }
    for each in found:
        if len(each) >= SHORTEST and each.lower() not in _names().everyday:
            yield each
            yield unquote(each)
