"""Finds addresses in a text: pages, sites, files, mail addresses, phone numbers."""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from remit.language.files import read_toml

URL: Final = re.compile(r"(?:https?://|www\.)[^\s<>\"'“”„«»`|]+", re.IGNORECASE)
MAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}")
PHONE: Final = re.compile(
    r"(?<![\w.,/-])(?:\+|\(\+?)?\d+\)?(?:(?:[ \u00a0/.-]|\)[ ]?|[ ]?\("
    r"|[ ][/-][ ])\d+\)?){0,9}(?![\w%€$£])"
)
_KNOWN: Final = read_toml("places", "remit.verify.written")
FILE: Final = re.compile(
    rf"(?<![\w/@.])[\w][\w./-]*\.(?:{'|'.join(_KNOWN['file_endings'])})\b", re.IGNORECASE
)
_DOMAIN: Final = re.compile(
    r"(?<![\w@./-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+"
    rf"(?:{'|'.join(_KNOWN['top_domains'])})\b(?!@)(?:/[^\s<>\"'“”|]*)?",
    re.IGNORECASE,
)
_SHARED: Final = frozenset(_KNOWN["shared_domains"])
_TRAILING: Final = ".,;:!?)]}'\"*_>…"
_MIN_DIGITS: Final = 7
_MAX_DIGITS: Final = 15


def urls(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield every page address, and bare site names."""
    for pattern in (URL, _DOMAIN):
        for found in pattern.finditer(text):
            bare = _trimmed(found.group(0))
            if pattern is URL or not FILE.fullmatch(bare):
                yield found.start(), found.start() + len(bare), bare


def phones(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield everything that could be a phone number; a large amount could be one, too."""
    for found in PHONE.finditer(text):
        digits = re.sub(r"\D", "", found.group(0))
        if _MIN_DIGITS <= len(digits) <= _MAX_DIGITS and not _DATED.search(found.group(0)):
            yield found.start(), found.end(), digits


def same_phone(one: str, other: str) -> bool:
    """Whether two phone numbers are the same, with or without country code."""
    short, long = sorted((one.lstrip("0"), other.lstrip("0")), key=len)
    return len(short) >= _MIN_DIGITS - 1 and long.endswith(short)


def address(url: str) -> str:
    """Return an address for comparison: no scheme, `www.`, last slash, fragment or trackers."""
    parts = _split(url)
    if parts is None:
        return url.casefold()
    host, path, query = parts
    kept = [f"{key}={value}" for key, value in parse_qsl(query) if not key.startswith("utm_")]
    return host + path.rstrip("/") + ("?" + "&".join(sorted(kept)) if kept else "")


def host(url: str) -> str:
    parts = _split(url)
    return parts[0] if parts else ""


def site(url: str) -> str:
    """Return the site of an address: its registered domain."""
    labels = host(url).split(".")
    keep = 3 if ".".join(labels[-2:]) in _SHARED else 2
    return ".".join(labels[-keep:])


def is_page(place: str) -> bool:
    return URL.match(place) is not None or _DOMAIN.fullmatch(place) is not None


def _split(url: str) -> tuple[str, str, str] | None:
    try:
        parts = urlsplit(url if "://" in url else f"https://{url}")
        name = parts.hostname or ""
    except ValueError:
        return None
    return name.removeprefix("www."), parts.path, parts.query


def _trimmed(found: str) -> str:
    while found and found[-1] in _TRAILING:
        if found[-1] == ")" and found.count("(") >= found.count(")"):
            break
        found = found[:-1]
    return found


def is_amount(text: str) -> bool:
    """Whether groups of three with one separator look like a large number."""
    return re.fullmatch(r"\d{1,3}([.,\u00a0 ])\d{3}(\1\d{3})*", text.strip()) is not None


_DATED: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}|\d\d?[./]\d\d?[./]\d{2,4}|\b\d{1,2}[.:]\d{2}\b.*\d{1,2}[.:]\d{2}\b"
)
