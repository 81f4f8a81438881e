"""Which environment variables hold secrets: one rule for gate, logs and child processes.

First the name decides: one of its words is password, token, key or similar. Then the value must be
plausible, because a path, a switch or an everyday word taken for a secret would hold every message
that contains it. Of an address only the credential parts are secret.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import unquote

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
