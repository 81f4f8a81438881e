"""Patterns of priority rules: `/…/i`, in RE2, so that no pattern is slow on any text.

All patterns for one text are tried in one pass.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import re2
from msgspec import Struct

from remit.errors import BadInput

MAX_CHARACTERS: Final = 1000  # letters of one pattern
_MEMORY: Final = 1 << 20  # bytes for one pattern: larger ones are refused when they are read
_MEMORY_OF_ALL: Final = 64 << 20
_AROUND: Final = ("(?=", "(?!", "(?<=", "(?<!")
_BACK: Final = ("(?P=", "(?P>", r"\k")


class Pattern(Struct, frozen=True):
    """The text between the slashes, and whether case counts."""

    source: str
    any_case: bool

    @property
    def whole(self) -> str:
        return f"(?i:{self.source})" if self.any_case else f"(?:{self.source})"


def read(text: str) -> Pattern:
    """Parse a pattern of a rule; one that RE2 does not support is refused."""
    body, stroke, flags = text[1:].rpartition("/")
    if not text.startswith("/") or not stroke:
        raise BadInput(
            f"must be a pattern like /invoice/i, not {text!r:.60}; "
            "put the whole condition in quotes if there is a # or a colon in it"
        )
    if flags not in ("", "i"):
        raise BadInput(f"has a pattern with the flags {flags!r:.20}; only i is known")
    if not body:
        raise BadInput("has an empty pattern; it would match everything")
    if len(body) > MAX_CHARACTERS:
        raise BadInput(f"has a pattern that is too long; at most {MAX_CHARACTERS} letters are read")
    found = Pattern(body, bool(flags))
    _compiled(found)
    return found


def _compiled(pattern: Pattern) -> re2._Regexp:
    """Compile it alone: within a group a stray bracket could close another's."""
    options = _options(_MEMORY)
    options.case_sensitive = not pattern.any_case
    try:
        return re2.compile(pattern.source, options)
    except re2.error as error:
        raise BadInput(_meaning(pattern.source, error)) from None


def _meaning(source: str, error: Exception) -> str:
    detail = error.args[0] if error.args else ""
    message = detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)
    what, _, where = message.partition(": ")
    if where in _AROUND:
        return f"has a pattern that looks around ({where}); that can be slow, and is not known here"
    refers = what == "invalid escape sequence" and where[1:2].isdigit()
    if refers or any(each in source for each in _BACK):
        return f"has a pattern that refers back ({where}); that can be slow, and is not known here"
    return f"has a pattern that cannot be read: {message:.120}"


def _options(memory: int) -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = memory
    return options


class Patterns:
    """Many patterns over one text: which of them match."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._groups = tuple(_groups(list(enumerate(patterns))))

    def found(self, text: str) -> Iterator[int]:
        """Yield the numbers of those that match a text."""
        raw = text.encode("utf-8", "replace")
        for group in self._groups:
            yield from group.found(raw)


class _Group:
    """Patterns tried at once; if that fails, one by one."""

    def __init__(self, places: Sequence[tuple[int, Pattern]], joined: re2.Set | None) -> None:
        self._places = [place for place, _ in places]
        self._patterns = [pattern for _, pattern in places]
        self._joined = joined
        self._single: list[re2._Regexp] | None = None

    def found(self, raw: bytes) -> Iterator[int]:
        hits = self._joined.Match(raw) if self._joined is not None else None
        if hits is None:
            # The first of a set matches everything: without it there was an error, not no match.
            yield from self._one_by_one(raw)
            return
        for hit in hits:
            if hit:
                yield self._places[hit - 1]

    def _one_by_one(self, raw: bytes) -> Iterator[int]:
        if self._single is None:
            self._single = [_compiled(pattern) for pattern in self._patterns]
        for place, regex in zip(self._places, self._single, strict=True):
            if regex.search(raw) is not None:
                yield place


def _groups(places: Sequence[tuple[int, Pattern]]) -> Iterator[_Group]:
    """Yield as few groups as the memory allows."""
    if not places:
        return
    joined = _joined([pattern for _, pattern in places])
    if joined is not None or len(places) == 1:
        yield _Group(places, joined)
        return
    half = len(places) // 2
    yield from _groups(places[:half])
    yield from _groups(places[half:])


def _joined(patterns: Sequence[Pattern]) -> re2.Set | None:
    joined = re2.Set.SearchSet(_options(_MEMORY_OF_ALL))
    try:
        joined.Add("")
        for pattern in patterns:
            joined.Add(pattern.whole)
        joined.Compile()
    except re2.error:
        return None
    return joined
