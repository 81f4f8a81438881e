"""JSON as a Struct, field by field: every wrong field gets a sentence."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import reduce
from types import UnionType
from typing import Annotated, Final, Literal, TypeVar, Union, cast, get_args, get_origin

from msgspec import Struct, ValidationError, convert, structs
from msgspec.structs import FieldInfo

from remit.model.codec import Json, JsonMap

# What msgspec says of a value: what is wrong with it, and where in the field.
_WRONG: Final = re.compile(r"(.*?)(?: - at `(?:key in )?\$(.*)`)?", re.DOTALL)
_LIMIT: Final = re.compile(r"Expected `(\w+)` (?:of length )?(>=|<=|>|<) (\S+)")
_EXPECTED: Final = re.compile(r"Expected `([^`]+)`, got .*")
_KINDS: Final = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_LIMITS: Final = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}

M = TypeVar("M", bound=Struct)


class WrongFields(Exception):
    """The place of each wrong field, and a sentence about it."""

    def __init__(self, found: Sequence[tuple[str, str]]) -> None:
        super().__init__(found[0][1])
        self.found = found


def parse_struct(
    kind: type[M],
    fields: Iterable[FieldInfo],
    data: Json,
    given: Mapping[str, object] | None = None,
    *,
    strict: bool = True,
) -> M:
    """Make a Struct of these fields of JSON; the other fields are given.

    Without `strict`, numbers and switches may be texts, and one text may be a list: as in a form.
    Raises `WrongFields` with a sentence for each wrong field.
    """
    if not isinstance(data, dict):
        raise WrongFields([("", "The body must be a JSON object.")])
    by_name = {field.encode_name: field for field in fields}
    values, wrong = dict(given or {}), list(_unknown_fields(data, by_name))
    for name, field in by_name.items():
        if name not in data:
            wrong += [(name, f"The field {name!r} is missing.")] if field.required else []
            continue
        value = data[name]
        if not strict and isinstance(value, str) and _is_list(field.type):
            value = [value]
        try:
            values[field.name] = _convert_value(value, field.type, strict=strict)
        except ValidationError as error:
            wrong.append(_wrong_value(name, field.type, str(error)))
    if wrong:
        raise WrongFields(wrong)
    return kind(**values)


def _unknown_fields(data: JsonMap, fields: Mapping[str, FieldInfo]) -> Iterator[tuple[str, str]]:
    known = ", ".join(fields) or "none"
    for name in data:
        if name not in fields:
            yield f"{name:.60}", f"There is no field {name[:60]!r}. Known: {known}."


def _convert_value(value: Json, kind: object, *, strict: bool) -> object:
    try:
        return convert(value, cast("type", kind), strict=strict)
    except ValidationError as error:
        whole = _with_whole_numbers(value)
        if "got `float`" not in str(error) or whole is value:
            raise
    return convert(whole, cast("type", kind), strict=strict)


def _with_whole_numbers(value: Json) -> Json:
    """To JSON 3.0 is an integer, too."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _with_whole_numbers(part) for name, part in value.items()}
    return [_with_whole_numbers(part) for part in value] if isinstance(value, list) else value


def _is_list(kind: object) -> bool:
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return get_origin(kind) in (list, tuple)


def _wrong_value(name: str, kind: object, message: str) -> tuple[str, str]:
    """Return the place of a wrong value, and a sentence."""
    found = _WRONG.fullmatch(message)
    what, inside = (found[1], found[2] or "") if found else (message, "")
    place = name + re.sub(r"\[(\d+|\.\.\.)\]", r".\1", inside)
    if missing := re.fullmatch("Object missing required field `(.*)`", what):
        place = f"{place}.{missing[1]}"
        return place, f"The field {place!r:.200} is missing."
    if unknown := re.fullmatch("Object contains unknown field `(.*)`", what):
        place = f"{place}.{unknown[1]:.60}"
        return place, f"There is no field {place!r:.200}."
    wanted = _requirement_sentence(reduce(_type_inside, place.split(".")[1:], kind), what)
    return place, f"{place!r:.200} must {wanted}."


def _type_inside(kind: object, name: str) -> object:
    """Return the type of a part of a value."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType, Annotated):
        return next(filter(None, (_type_inside(each, name) for each in parts)), None)
    if isinstance(kind, type) and issubclass(kind, Struct):
        return next((each.type for each in structs.fields(kind) if each.encode_name == name), None)
    return parts[-1 if origin is dict else 0] if parts else None


def _requirement_sentence(kind: object, what: str) -> str:
    if limit := _LIMIT.match(what):
        unit = {"str": " characters", "array": " entries", "object": " entries"}.get(limit[1], "")
        if unit and (limit[2], limit[3]) == (">=", "1"):
            return "not be empty"
        return f"{'have' if unit else 'be'} {_LIMITS[limit[2]]} {limit[3]}{unit}"
    if words := _words_of(kind):
        return f"be {'one of: ' * (len(words) > 1)}{', '.join(words)}"
    if expected := _EXPECTED.fullmatch(what):
        kinds = (_KINDS.get(each, each) for each in expected[1].split(" | "))
        return f"be {' or '.join(kinds)}"
    return f"fit: {what}"


def _words_of(kind: object) -> tuple[str, ...]:
    """Return the words that a field of few words may be."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        return tuple(map(str, parts))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return tuple(str(each.value) for each in kind)
    if origin in (Union, UnionType, Annotated):
        return next(filter(None, map(_words_of, parts)), ())
    return ()
