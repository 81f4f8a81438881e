"""Values to JSON and back, by their types, with unknown fields refused; moments; short lists."""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Final, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from msgspec import NODEFAULT, Struct
from msgspec import json as fast_json
from msgspec.structs import asdict

from remit.errors import BadInput, NotPossibleNow

EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(2200, 1, 1, tzinfo=UTC)
# A few days from either end of the calendar, so that any zone and one more day still fit.
_FIRST: Final = datetime(1, 1, 10, tzinfo=UTC)
_LAST: Final = datetime(9999, 12, 20, tzinfo=UTC)


def check_moment(at: datetime | None, field: str) -> None:
    """Refuse a time outside 1970 to 2199."""
    if at is not None and not EARLIEST <= at < LATEST:
        sentence = f"{field} is in the year {at.year}; give a time from 1970 to 2199."
        raise NotPossibleNow(sentence, field=field)


def clamp(at: datetime) -> datetime:
    """Return the moment, or the nearest one that every zone can show; for stored values."""
    return min(max(at, _FIRST), _LAST)


Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
JsonMap: TypeAlias = "dict[str, Json]"
T = TypeVar("T")
IT: Final = "it"

_CAPITAL: Final = re.compile("[A-Z]")
_IN_UTC: Final = "2026-02-22T15:30:00.000000Z"
# JSON allows these in strings, but some readers treat them as line ends.
_BREAKS: Final = {ord(each): f"\\u{ord(each):04x}" for each in "\x85\u2028\u2029"}


def without_surrogates(text: str) -> str:
    """Return the text with lone surrogates replaced, which no file, store or channel accepts."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def sha256(content: bytes) -> bytes:
    import hashlib  # noqa: PLC0415 - it loads OpenSSL, and most who import a value hash nothing

    return hashlib.sha256(content).digest()


def text_of(value: Json) -> str:
    """Write JSON so that equal values give equal text."""
    return _encoder()(value)


@cache
def _encoder() -> Callable[[Json], str]:
    import json  # noqa: PLC0415 - most who import a value write none this way

    return json.JSONEncoder(
        ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True
    ).encode


def stored_text(value: Json) -> str:
    """The same ten times faster, for what is only stored: a number that JSON lacks is null."""
    try:
        return fast_json.encode(value, order="sorted").decode()
    except (OverflowError, UnicodeEncodeError):  # huge numbers and halves of characters
        return text_of(value)


def line_of(value: Json) -> str:
    """The same as one line of a file, whatever its reader takes for the end of a line."""
    text = stored_text(value)
    return (text if text.isascii() else text.translate(_BREAKS)) + "\n"


def to_json(value: object) -> Json:
    """Write a value of the model as JSON."""
    kind = type(value)
    return (_WRITERS.get(kind) or _writer(kind))(value)


def pick_fields(value: object, names: str) -> JsonMap:
    """Write some fields of a value as JSON, in this order, by their names in camelCase."""
    return {name: to_json(getattr(value, field)) for name, field in _fields_of(names)}


@cache
def _fields_of(names: str) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, _CAPITAL.sub(lambda found: f"_{found[0].lower()}", name)) for name in names.split()
    )


def from_json(kind: type[T], data: Json, called: str = "") -> T:
    """Parse a value of the model; a missing, unknown or mistyped field is named in the error.

    `called` is the name of the value in errors; the fields of a value called `IT` are named alone.
    """
    try:
        return cast("T", _reader(cast("Hashable", kind))(data))
    except _MisfitError as misfit:
        raise misfit.explain(called or kind.__name__) from None


def stamp(moment: datetime) -> str:
    """Write a moment as RFC 3339 in UTC, to the millisecond."""
    at = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return at.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def moment(text: str) -> datetime:
    """Parse RFC 3339. A time without an offset is refused, because it is ambiguous."""
    try:
        read = datetime.fromisoformat(text)
        in_utc = read.astimezone(UTC) if read.tzinfo else None
    except (ValueError, OverflowError):
        sentence = f"{text!r:.60} is not a time; write it like 2026-02-22T15:30:00Z."
        raise BadInput(sentence) from None
    if in_utc is None:
        sentence = (
            f"{text!r} has no offset; write it like 2026-02-22T15:30:00+01:00 or end it in Z."
        )
        raise BadInput(sentence)
    return clamp(in_utc)


class _MisfitError(Exception):
    """Data that does not fit. Where it stands is put together on the way out, at no cost before."""

    def __init__(self, wrong: str, field: str = "") -> None:
        super().__init__(wrong)
        self._field = field
        self.path = ""

    def explain(self, called: str) -> BadInput:
        at = self.path[1:] if called == IT and self.path[:1] == "." else called + self.path
        return BadInput(f"{at}{self}", field=self._field or at)


_Read: TypeAlias = Callable[[Json], object]
_Write: TypeAlias = Callable[[object], Json]


def _writer(kind: type) -> _Write:
    """Return the function that writes values of a type; worked out once per type."""
    write: _Write
    if issubclass(kind, StrEnum):
        write = _write_word
    elif issubclass(kind, Mapping):
        write = _write_map
    else:
        write = _write_record
    _WRITERS[kind] = write
    return write


def _write_word(value: object) -> Json:
    return str(cast("StrEnum", value).value)


def _write_record(value: object) -> Json:
    try:
        written: JsonMap = fast_json.decode(fast_json.encode(value))
    except (OverflowError, UnicodeEncodeError):  # huge numbers and halves of characters
        return {name: to_json(part) for name, part in asdict(cast("Struct", value)).items()}
    return _with_short_times(cast("type[Struct]", type(value)), written)


def _with_short_times(kind: type[Struct] | None, written: Json) -> Json:
    """Bring each moment of a written value into the form of `stamp`."""
    match written:
        case str():
            in_utc = len(written) == len(_IN_UTC) and written.endswith("Z")
            return f"{written[:-4]}Z" if in_utc else stamp(datetime.fromisoformat(written))
        case list():
            return [_with_short_times(kind, part) for part in written]
        case dict() if kind is not None:
            for name, inner in _fields_with_times(kind):
                written[name] = _with_short_times(inner, written[name])
    return written


@cache
def _fields_with_times(kind: type[Struct]) -> tuple[tuple[str, type[Struct] | None], ...]:
    """The fields of a value that are moments, or hold values that have some."""
    found: list[tuple[str, type[Struct] | None]] = []
    for name, hint in hints_of(kind).items():
        for part in _leaves(hint):
            if part is datetime:
                found.append((name, None))
            elif isinstance(part, type) and issubclass(part, Struct) and _fields_with_times(part):
                found.append((name, part))
    return tuple(found)


def _leaves(hint: object) -> Iterator[object]:
    """Yield the plain types that an annotation is made of."""
    inner = get_args(hint)
    for part in inner:
        yield from _leaves(part)
    if not inner:
        yield hint


def hints_of(kind: type[Struct]) -> dict[str, object]:
    """Return the types of the fields of a value."""
    # `JsonMap` names `Json`, which the module that uses it need not have imported.
    return get_type_hints(kind, localns={"Json": Json})


def _write_map(value: object) -> Json:
    return {key: to_json(part) for key, part in cast("Mapping[str, object]", value).items()}


def _write_list(value: object) -> Json:
    return [to_json(part) for part in cast("Iterable[object]", value)]


def _write_plain(value: object) -> Json:
    return cast("Json", value)


_WRITERS: Final[dict[type, _Write]] = {
    **dict.fromkeys((str, int, float, bool, NoneType), _write_plain),
    **dict.fromkeys((tuple, list), _write_list),
    dict: _write_map,
    datetime: lambda value: stamp(cast("datetime", value)),
}


@cache
def _reader(kind: Hashable) -> _Read:
    origin = get_origin(kind)
    if origin in (UnionType, Union):
        return _optional(kind)
    if origin is tuple:
        return _tuple(kind)
    if origin is dict:
        return _map
    supertype = cast("type", getattr(kind, "__supertype__", kind))
    return _record(supertype) if issubclass(supertype, Struct) else _scalar(supertype)


def _optional(kind: Hashable) -> _Read:
    inner = [arg for arg in get_args(kind) if arg is not NoneType]
    if len(inner) != 1:
        return lambda data: data  # Json itself: whatever it is, it is right
    read = _reader(inner[0])
    return lambda data: None if data is None else read(data)


def _tuple(kind: Hashable) -> _Read:
    read_part = _reader(get_args(kind)[0])

    def read(data: Json) -> object:
        found: list[object] = []
        try:
            for part in _list(data):
                found.append(read_part(part))  # noqa: PERF401 - its place is named if it fails
        except _MisfitError as misfit:
            if isinstance(data, list):
                misfit.path = f"[{len(found)}]{misfit.path}"
            raise
        return tuple(found)

    return read


def _scalar(kind: type) -> _Read:
    if issubclass(kind, StrEnum):
        return _member(kind)

    def read(data: Json) -> object:
        if type(data) is kind:
            return data
        if kind is datetime and isinstance(data, str):
            return _moment(data)
        if kind is float and type(data) is int and abs(data) <= _EXACT:
            return float(data)
        raise _MisfitError(f" must be {_WORDS[kind]}, not {data!r:.60}.")

    return read


def _moment(data: str) -> datetime:
    try:
        return moment(data)
    except BadInput as bad:
        raise _MisfitError(f": {bad}") from None


def _member(kind: type[StrEnum]) -> _Read:
    members = {member.value: member for member in kind}

    def read(data: Json) -> object:
        found = members.get(data) if isinstance(data, str) else None
        if found is None:
            raise _MisfitError(f" is {data!r:.60}; it may be {', '.join(kind)}.")
        return found

    return read


def _record(kind: type[Struct]) -> _Read:
    hints = hints_of(kind)
    readers = {name: _reader(hints[name]) for name in kind.__struct_fields__}
    needed = needed_fields(kind)

    def read(data: Json) -> object:
        given = _map(data)
        if given.keys() != readers.keys():
            for name in sorted(given.keys() - readers.keys()):
                raise _MisfitError(f" has no field {name!r:.60}.", name)
            for name in sorted(needed - given.keys()):
                raise _MisfitError(f" lacks the field {name!r}.", name)
        found: dict[str, object] = {}
        name = ""
        try:
            for name, part in given.items():
                found[name] = readers[name](part)
        except _MisfitError as misfit:
            misfit.path = f".{name}{misfit.path}"
            raise
        return kind(**found)

    return read


def needed_fields(kind: type[Struct]) -> set[str]:
    """The fields without a default; `__struct_defaults__` is that of the last fields."""
    names, defaults = kind.__struct_fields__, kind.__struct_defaults__
    given = zip(reversed(names), reversed(defaults), strict=False)
    return set(names) - {name for name, default in given if default is not NODEFAULT}


def _list(data: Json) -> list[Json]:
    if not isinstance(data, list):
        raise _MisfitError(f" must be a list, not {data!r:.60}.")
    return data


def _map(data: Json) -> dict[str, Json]:
    if not isinstance(data, dict):
        raise _MisfitError(f" must be an object, not {data!r:.60}.")
    return data


_EXACT: Final = 2**53  # the last whole number a float holds without loss
_WORDS: Final[dict[type, str]] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    datetime: "a time like 2026-02-22T15:30:00Z",
}


def first_few(names: Sequence[str], most: int) -> str:
    """The first names of a list, and how many more there are: `a.py, b.py and 3 more`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


_UNITS: Final = ((timedelta(days=1), "d"), (timedelta(hours=1), "h"), (timedelta(minutes=1), "min"))
_SAYING: Final = timedelta(seconds=2)  # "in 5 minutes" still reads as five after this long
_SAYING_SHARE: Final = 30  # and 2 hours less 4 minutes read as "in 2 h", not "in 1 h"


def distance(at: datetime, now: datetime) -> tuple[int, str]:
    """Return how far away a moment is in its largest unit: d, h, min or s.

    What has passed is rounded down; what is ahead reads as it was said a moment ago.
    """
    away = timedelta(seconds=round(abs(at - now).total_seconds()))
    as_said = away + max(_SAYING, away / _SAYING_SHARE) if at > now else away
    found = next(((as_said // unit, name) for unit, name in _UNITS if as_said >= unit), None)
    return found or (away.seconds, "s")
