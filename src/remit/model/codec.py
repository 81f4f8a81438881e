"""Values to JSON and back, by their types. Unknown fields are refused."""

import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Final, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from msgspec import NODEFAULT, Struct

from remit.errors import BadInput
from remit.model.moments import clamp

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
JsonMap: TypeAlias = "dict[str, Json]"
T = TypeVar("T")
IT: Final = "it"

_ENCODE: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True
).encode
# JSON allows these in strings, but some readers treat them as line ends.
_BREAKS: Final = {ord(each): f"\\u{ord(each):04x}" for each in "\x85\u2028\u2029"}


def text_of(value: Json) -> str:
    """Write JSON so that equal values give equal text."""
    return _ENCODE(value)


def line_of(value: Json) -> str:
    """Write JSON as one line of a file, without characters that some readers take for line ends."""
    return _ENCODE(value).translate(_BREAKS) + "\n"


def to_json(value: object) -> Json:
    """Write a value of the model as JSON."""
    kind = type(value)
    return (_WRITERS.get(kind) or _writer(kind))(value)


def from_json(kind: type[T], data: Json, called: str = "") -> T:
    """Parse a value of the model; a missing, unknown or mistyped field is named in the error.

    `called` is the name of the value in errors; the fields of a value called `IT` are named alone.
    """
    return cast("T", _reader(cast("Hashable", kind))(data, called or kind.__name__))


def stamp(moment: datetime) -> str:
    """Write a moment as RFC 3339 in UTC, to the millisecond."""
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00") + "Z"


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


_Read: TypeAlias = Callable[[Json, str], object]
_Write: TypeAlias = Callable[[object], Json]


def _writer(kind: type) -> _Write:
    """Return the function that writes values of a type; worked out once per type."""
    write: _Write
    if issubclass(kind, StrEnum):
        write = _write_word
    elif issubclass(kind, Mapping):
        write = _write_map
    else:
        names = _names(cast("Hashable", kind))
        write = lambda value: {name: to_json(getattr(value, name)) for name in names}  # noqa: E731
    _WRITERS[kind] = write
    return write


def _write_word(value: object) -> Json:
    return str(cast("StrEnum", value).value)


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
def _names(kind: Hashable) -> tuple[str, ...]:
    return cast("type[Struct]", kind).__struct_fields__


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
        return lambda data, _: data  # Json accepts any value
    read = _reader(inner[0])
    return lambda data, at: None if data is None else read(data, at)


def _tuple(kind: Hashable) -> _Read:
    part = _reader(get_args(kind)[0])
    return lambda data, at: tuple(part(x, f"{at}[{i}]") for i, x in enumerate(_list(data, at)))


def _scalar(kind: type) -> _Read:
    def read(data: Json, at: str) -> object:
        if kind is datetime and isinstance(data, str):
            return _moment(data, at)
        if issubclass(kind, StrEnum):
            return _member(kind, data, at)
        if kind is float and type(data) is int and abs(data) <= _EXACT:
            return float(data)
        if type(data) is not kind:
            sentence = f"{at} must be {_WORDS[kind]}, not {data!r:.60}."
            raise BadInput(sentence, field=at)
        return data

    return read


def _moment(data: str, at: str) -> datetime:
    try:
        return moment(data)
    except BadInput as bad:
        raise BadInput(f"{at}: {bad}", field=at) from None


def _member(kind: type[StrEnum], data: Json, at: str) -> StrEnum:
    try:
        return kind(cast("str", data))
    except ValueError:
        known = ", ".join(kind)
        sentence = f"{at} is {data!r:.60}; it may be {known}."
        raise BadInput(sentence, field=at) from None


def _record(kind: type[Struct]) -> _Read:
    # `JsonMap` names `Json`, which the module that uses it need not have imported.
    hints = get_type_hints(kind, localns={"Json": Json})
    readers = {name: _reader(hints[name]) for name in _names(kind)}
    needed = needed_fields(kind)

    def read(data: Json, at: str) -> object:
        given = _map(data, at)
        for name in sorted(given.keys() - readers.keys()):
            raise BadInput(f"{at} has no field {name!r:.60}.", field=name)
        for name in sorted(needed - given.keys()):
            raise BadInput(f"{at} lacks the field {name!r}.", field=name)
        return kind(
            **{name: readers[name](part, _inside(at, name)) for name, part in given.items()}
        )

    return read


def _inside(at: str, name: str) -> str:
    return name if at == IT else f"{at}.{name}"


def needed_fields(kind: type[Struct]) -> set[str]:
    """The fields without a default; `__struct_defaults__` is that of the last fields."""
    names, defaults = kind.__struct_fields__, kind.__struct_defaults__
    given = zip(reversed(names), reversed(defaults), strict=False)
    return set(names) - {name for name, default in given if default is not NODEFAULT}


def _list(data: Json, at: str) -> list[Json]:
    if not isinstance(data, list):
        raise BadInput(f"{at} must be a list, not {data!r:.60}.", field=at)
    return data


def _map(data: Json, at: str) -> dict[str, Json]:
    if not isinstance(data, dict):
        raise BadInput(f"{at} must be an object, not {data!r:.60}.", field=at)
    return data


_EXACT: Final = 2**53  # the last whole number a float holds without loss
_WORDS: Final[dict[type, str]] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    datetime: "a time like 2026-02-22T15:30:00Z",
}
