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
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final
from urllib.parse import quote, unquote

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


def _words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that name a secret even when joined with another word: PGPASSWORD, SSHPASS.
_SECRET_ENDINGS: Final = (
    *("PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE", "PASSCODE", "SSHPASS"),
    *("SECRET", "SECRETS", "TOKEN", "CREDENTIAL", "CREDENTIALS"),
    *("APIKEY", "SECRETKEY", "ACCESSKEY", "PRIVATEKEY", "AUTHKEY", "MASTERKEY", "ACCOUNTKEY"),
)
_SECRET_WORDS: Final = frozenset(("PASS", "PWD", "PW", "CREDS"))
# Words that also name harmless things; then the value must look random, or another word of the name
# must say what the key is for.
_MAYBE_SECRET: Final = _words_of(
    """
    KEY KEYS TOKENS AUTH AUTHORIZATION PRIVATE CERT CERTS CERTIFICATE PEM PFX JWT HMAC SALT SEED
    PEPPER MNEMONIC COOKIE SIGNATURE SIGNING ENCRYPTION DSN SAS WEBHOOK OTP TOTP
    """
)
_KEYS: Final = frozenset(("KEY", "KEYS"))
_KINDS_OF_KEY: Final = _words_of(
    "API ACCESS PRIVATE MASTER SIGNING ENCRYPTION CLIENT SERVICE ACCOUNT DEPLOY LICENSE"
)
_PUBLIC_WORDS: Final = frozenset(("PUBLIC", "PUBLISHABLE", "PUB"))

_NOT_A_WORD: Final = re.compile(r"[^A-Za-z0-9]+")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,30}://([^/?#]*)([^\s]*)")
_RANDOM: Final = re.compile(
    r"(?=[A-Za-z+/]{0,64}\d)(?=[\d+/]{0,64}[A-Za-z])[A-Za-z0-9+/]{12,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-"
)
_PAIR: Final = re.compile(r"(?:^|[\s;,&?])([A-Za-z][\w -]{0,40}?)\s?=\s?([^\s;,&]+)")
_PATH: Final = re.compile(r"(?:~?/|\.{1,2}/|[A-Za-z]:[\\/])")
_SEPARATOR: Final = re.compile(r"[/\\]")
_EVERYDAY: Final = _words_of(
    """
    disabled required optional enabled preferred password passwort changeme change-me change_me
    postgres postgresql example administrator development production unlimited undefined
    placeholder anonymous localhost
    """
)


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
    sure, maybe = _says_secret(name)
    address = _ADDRESS.match(value)
    if address:
        yield from _of_address(address, named=sure or maybe)
        return
    yield from (
        each[2] for each in _PAIR.finditer(value) if _is_secret(*_says_secret(each[1]), each[2])
    )
    if _is_secret(sure, maybe, value):
        yield from lines_of(value)


def _says_secret(name: str) -> tuple[bool, bool]:
    """Return whether a name surely means a secret, and whether it may mean one."""
    words = [word.upper() for word in _NOT_A_WORD.split(_CAMEL.sub("_", name)) if word]
    named = [word in _SECRET_WORDS or word.endswith(_SECRET_ENDINGS) for word in words]
    if not any(named) and not _PUBLIC_WORDS.isdisjoint(words):
        return False, False
    maybe = any(named) or not _MAYBE_SECRET.isdisjoint(words)
    is_key = bool(words) and words[-1] in _KEYS
    sure = named[-1:] == [True] or (is_key and (any(named) or not _KINDS_OF_KEY.isdisjoint(words)))
    return sure, maybe


def _is_secret(sure: bool, maybe: bool, value: str) -> bool:
    if not maybe or len(value) < SHORTEST or value.lower() in _EVERYDAY or _is_path(value):
        return False
    return sure or _looks_random(value)


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
        if len(each) >= SHORTEST and each.lower() not in _EVERYDAY:
            yield each
            yield unquote(each)
