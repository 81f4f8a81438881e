"""Keys and passwords: by the shapes vendors gave them, and those of this house by what they are.

The sentence that says a secret was found never repeats it.
"""

import base64
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from remit.gate.eye import fold
from remit.gate.objection import Objection, Why, line


@dataclass(frozen=True, slots=True)
class _Shape:
    """`sign` is in every secret of this shape, so that most texts are passed at a glance."""

    what: str
    sign: str
    pattern: re.Pattern[str]


_TABLE: Final = (
    (
        "a private key",
        "PRIVATE KEY",
        r"-----BEGIN (?:(?:RSA|DSA|EC|OPENSSH|ENCRYPTED|PGP|SSH2 ENCRYPTED) )?+PRIVATE KEY",
    ),
    ("a private key", "PuTTY-User-Key", r"PuTTY-User-Key-File-\d"),
    ("a private key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{20}"),
    ("a model vendor's key", "sk-", r"sk-(?:ant|proj|svcacct|admin|or|lf)-[\w-]{16}"),
    ("a model vendor's key", "sk-", r"(?<![A-Za-z0-9_-])sk-[A-Za-z0-9]{20}"),
    ("a model vendor's key", "gsk_", r"gsk_[A-Za-z0-9]{30}"),
    ("a model vendor's key", "xai-", r"xai-[A-Za-z0-9]{30}"),
    ("a model vendor's key", "hf_", r"hf_[A-Za-z0-9]{30}"),
    ("a payment key", "k_live_", r"[sr]k_live_[A-Za-z0-9]{16}"),
    ("a payment key", "k_test_", r"[sr]k_test_[A-Za-z0-9]{16}"),
    ("a webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/]{24}"),
    ("a Slack token", "xox", r"xox[abeoprs]-[A-Za-z0-9-]{10}"),
    ("a Slack token", "xapp-", r"xapp-\d-[A-Za-z0-9-]{10}"),
    (
        "a Slack webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/services/T[A-Z0-9]{6,12}+/B[A-Z0-9]{6,12}+/\w{8}",
    ),
    ("a Discord webhook", "/api/webhooks/", r"/api/webhooks/\d{8,20}+/[\w-]{20}"),
    ("an AWS key", "AKIA", r"(?<![A-Za-z0-9])AKIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("an AWS key", "ASIA", r"(?<![A-Za-z0-9])ASIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("a GitHub token", "gh", r"(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{20}"),
    ("a GitHub token", "github_pat_", r"github_pat_[A-Za-z0-9_]{20}"),
    ("a GitLab token", "glpat-", r"glpat-[\w-]{20}"),
    ("a Google key", "AIza", r"AIza[\w-]{35}"),
    ("a Google secret", "GOCSPX-", r"GOCSPX-[\w-]{20}"),
    ("a Google token", "ya29.", r"ya29\.[\w-]{20}"),
    ("a package registry's token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    ("a package registry's token", "pypi-AgE", r"pypi-AgE[\w-]{20}"),
    ("a cloud token", "dop_v1_", r"dop_v1_[a-f0-9]{32}"),
    ("a shop token", "shpat_", r"shpat_[a-f0-9]{32}"),
    ("a mail service's key", "SG.", r"SG\.[\w-]{16,64}+\.[\w-]{16}"),
    ("a bot token", ":AA", r"\d{8}:AA[\w-]{30}"),
    ("a Meta token", "EAA", r"(?<![A-Za-z0-9])EAA[A-Za-z0-9]{60}"),
    ("a storage key", "AccountKey=", r"AccountKey=[A-Za-z0-9+/]{40}"),
    (
        "a signed token (JWT)",
        ".eyJ",
        r"(?<![\w-])eyJ[\w-]{8,1024}+\.eyJ[\w-]{8}",
    ),
    (
        "a bearer token",
        "earer ",
        r"\b[Bb]earer (?=[A-Za-z._~+/-]{0,23}+\d)([A-Za-z0-9._~+/-]{24})",
    ),
    (
        "a password in an address",
        "://",
        r"(?<=[A-Za-z0-9+])://[^\s/:@]{0,64}+:([^\s/:@]{3,128}+)@",
    ),
)
_SHAPES: Final = tuple(_Shape(what, sign, re.compile(shape)) for what, sign, shape in _TABLE)
_TAIL: Final = 16
_FEW: Final = 3
_EXAMPLES: Final = frozenset(("password", "passwd", "pass", "secret", "pwd", "changeme", "token"))

_LEAST: Final = 4  # shorter, and it cannot be told from any other word
_LONG: Final = 8  # from here on it is known in disguise, too
_URL_SAFE: Final = str.maketrans("+/", "-_")
_SPACE: Final = re.compile(r"\s++")
_NOT_WORD: Final = re.compile(r"[\W_]++")
_CODED: Final = re.compile(r"(?:%|\\x|&#x|\\u00)([0-9a-fA-F]{2});?+|&#(\d{2,3}+);?+")


def objection(plain: str, known: Collection[str]) -> Objection | None:
    """Object to a secret in a folded text, known or by its looks."""
    if _holds_any(plain, [fold(secret).strip() for secret in known]):
        sentence = "It gives away a secret of this house: a key or password that it works with."
        return Objection(sentence, Why.SECRET)
    for shape in _SHAPES:
        found = _first(plain, shape) if shape.sign in plain else None
        if found:
            where = line(plain, found.start())
            return Objection(f"Line {where} holds what looks like {shape.what}.", Why.SECRET)
    return None


def _first(text: str, shape: _Shape) -> re.Match[str] | None:
    found = shape.pattern.finditer(text)
    return next((match for match in found if not _is_example(match[match.re.groups])), None)


def _is_example(token: str) -> bool:
    """Whether it stands for a secret: sk-xxxx, Bearer YOUR_TOKEN, user:password@."""
    plain = token.lower()
    few = len(set(plain[-_TAIL:])) <= _FEW
    return few or "your" in plain or plain in _EXAMPLES or any(sign in plain for sign in "<>{}$*")


def _holds_any(text: str, secrets: Collection[str]) -> bool:
    """Whether a secret is in the text, in the open or taken apart, turned round or encoded."""
    if not secrets:
        return False
    close = _SPACE.sub("", text)
    loose = _letters(text) + " " + _letters(_CODED.sub(_decoded, text))
    return any(_is_in(secret, text, close, loose) for secret in secrets)


def _is_in(secret: str, text: str, close: str, loose: str) -> bool:
    if len(secret) < _LONG:
        return len(secret) >= _LEAST and _stands_alone(secret, text)
    if any(form in close for form in (_SPACE.sub("", secret), *_encoded(secret))):
        return True
    return any(len(form) >= _LONG and form in loose for form in _disguised(secret))


def _stands_alone(secret: str, text: str) -> bool:
    return bool(re.search(rf"(?<![^\W_]){re.escape(secret)}(?![^\W_])", text))


def _letters(text: str) -> str:
    return _NOT_WORD.sub("", text).lower()


def _decoded(found: re.Match[str]) -> str:
    return chr(int(found[1], 16) if found[1] else int(found[2]))


def _disguised(secret: str) -> tuple[str, ...]:
    bare = _letters(secret)
    return bare, bare[::-1], secret.encode("utf-8", "surrogatepass").hex()


def _encoded(secret: str) -> Iterator[str]:
    """The secret as it looks within base64 of a longer text, wherever it starts there."""
    for shift in range(3):
        coded = base64.b64encode(bytes(shift) + secret.encode("utf-8", "surrogatepass")).decode()
        # The first and the last group may hold bits of the neighbours: they are left out.
        inner = coded[4 if shift else 0 : -4]
        if len(inner) >= _LONG:
            yield inner
            yield inner.translate(_URL_SAFE)
