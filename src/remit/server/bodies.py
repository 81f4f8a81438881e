"""Request bodies: parsed strictly, or refused with the name of the wrong field."""

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import cache, reduce
from types import UnionType
from typing import (
    Annotated,
    Final,
    Literal,
    NoReturn,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)
from urllib.parse import parse_qsl, unquote, urlencode

from msgspec import Meta, Struct, ValidationError, convert, structs
from msgspec.structs import FieldInfo

from remit.model.codec import Json, JsonMap
from remit.model.task_file import FileContent
from remit.operations.arguments import Arguments
from remit.server.problem import Problem, RequestRefused

MOST_BYTES: Final = 1024 * 1024
_MOST_PARTS: Final = 100
_BOUNDARY: Final = re.compile(
    r"(?i)multipart/form-data;\s*boundary=\"?([\w'()+,./:=?-]{1,70})\"?", re.ASCII
)
_DISPOSITION: Final = re.compile(r"(?im)^content-disposition:\s*form-data((?:;\s*\w+=\"[^\"]*\")+)")
_PARAMETER: Final = re.compile(r";\s*(\w+)=\"([^\"]*)\"")
_MOST_DEPTH: Final = 32
_MOST_ERRORS: Final = 10
# Control characters (except tab and line ends), and lone surrogates.
_UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
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


class RequestBody(Struct, frozen=True):
    """What a form of a page sends, or a body that no operation describes."""

    @classmethod
    def gather(cls, sent: JsonMap) -> JsonMap:
        """Put fields whose names are free into one field."""
        return sent


class EmptyBody(RequestBody, frozen=True):
    """For requests that say all in their address."""


# What a form says of files: the hash of each, and its name.
FileNames: TypeAlias = Annotated[tuple[str, ...], Meta(max_length=20)]


@cache
def body_fields(kind: type[Struct]) -> tuple[FieldInfo, ...]:
    """The fields of a body: all but what the address names, and what no program may send."""
    elsewhere: set[str] = set()
    if issubclass(kind, Arguments):
        elsewhere = {*kind.in_path().values(), *kind.internal}
    return tuple(field for field in structs.fields(kind) if field.name not in elsewhere)


def read(kind: type[M], raw: bytes, given: Mapping[str, object] | None = None) -> M:
    """Parse a body; every error is named, the first one in a sentence.

    The fields in `given` come from elsewhere.
    """
    data: Json = {} if not raw and not body_fields(kind) else _json(raw)
    _look_through(data)
    return _made(kind, data, given or {}, strict=True)


def read_form(kind: type[M], raw: bytes, given: Mapping[str, object] | None = None) -> M:
    """Parse a form. A repeated field is a list; an empty one is omitted."""
    try:
        pairs = parse_qsl(raw.decode("ascii"), strict_parsing=True, errors="strict") if raw else []
    except ValueError:
        raise _malformed("The form cannot be read.") from None
    found: dict[str, Json] = {}
    for name, value in pairs:
        text = value.replace("\r\n", "\n")  # browsers write line ends as two characters
        before = found.get(name)
        found[name] = text if before is None else [*_listed(before), text]
    _look_through(found)
    # Loosely: a form sends only text, and only a repeated field is a list.
    return _made(kind, found, given or {}, strict=False)


def _made(kind: type[M], data: Json, given: Mapping[str, object], *, strict: bool) -> M:
    if not isinstance(data, dict):
        raise _refusal([("", "The body must be a JSON object.")])
    if issubclass(kind, RequestBody):
        data = kind.gather(data)
    fields = {field.encode_name: field for field in body_fields(kind)}
    values, wrong = dict(given), list(_unknown(data, fields))
    for name, field in fields.items():
        if name not in data:
            wrong += [(name, f"The field {name!r} is missing.")] if field.required else []
            continue
        value = data[name]
        if not strict and isinstance(value, str) and _is_list(field.type):
            value = [value]
        try:
            values[field.name] = _converted(value, field.type, strict=strict)
        except ValidationError as error:
            wrong.append(_wrong_value(name, field.type, str(error)))
    if wrong:
        raise _refusal(wrong)
    return kind(**values)


def _unknown(data: JsonMap, fields: Mapping[str, FieldInfo]) -> Iterator[tuple[str, str]]:
    known = ", ".join(fields) or "none"
    for name in data:
        if name not in fields:
            yield f"{name:.60}", f"There is no field {name[:60]!r}. Known: {known}."


def _converted(value: Json, kind: object, *, strict: bool) -> object:
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
    wanted = _wanted(reduce(_type_inside, place.split(".")[1:], kind), what)
    return place, f"{place!r:.200} must {wanted}."


def _type_inside(kind: object, name: str) -> object:
    """Return the type of a part of a value."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType, Annotated):
        return next(filter(None, (_type_inside(each, name) for each in parts)), None)
    if isinstance(kind, type) and issubclass(kind, Struct):
        return next((each.type for each in structs.fields(kind) if each.encode_name == name), None)
    return parts[-1 if origin is dict else 0] if parts else None


def _wanted(kind: object, what: str) -> str:
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


def read_multipart(raw: bytes, kind: str) -> tuple[bytes, tuple[FileContent, ...]]:
    """Return the fields of a form with files, as another form sends them, and the files.

    The field of a file is its hash and its name, as our script sends a file that it kept before.
    """
    found = _BOUNDARY.fullmatch(kind)
    first, *parts = (b"\r\n" + raw).split(b"\r\n--" + found[1].encode()) if found else (raw,)
    if first or not parts or parts.pop()[:2] != b"--" or len(parts) > _MOST_PARTS:
        raise _malformed("The form cannot be read.")
    fields: list[tuple[str, str]] = []
    files: list[FileContent] = []
    for part in parts:
        head, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        name, file = _part_names(head)
        if file is None:
            fields.append((name, content.decode("utf-8", "replace")))
        elif file or content:
            files.append(FileContent(file, "", content))
            fields.append((name, f"{hashlib.sha256(content).hexdigest()} {file}"))
    return urlencode(fields).encode("ascii"), tuple(files)


def _part_names(head: bytes) -> tuple[str, str | None]:
    """Return the name of a part's field, and of its file if it is one."""
    line = _DISPOSITION.search(head.decode("utf-8", "replace"))
    found = dict(_PARAMETER.findall(line[1])) if line else {}
    if "name" not in found:
        raise _malformed("The form cannot be read.")
    file = found.get("filename")
    return found["name"], file if file is None else unquote(file, errors="replace")


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def _json(raw: bytes) -> Json:
    if not raw:
        raise _malformed("The body is empty; send a JSON object.")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _malformed(f"The body is not UTF-8 (byte {error.start}).") from None
    try:
        return cast(
            "Json",
            json.loads(
                text, object_pairs_hook=_object, parse_float=_finite, parse_constant=_no_constant
            ),
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise _malformed(f"The body is not JSON: {error.msg} ({where}).") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:  # Python refuses integers with thousands of digits
        raise _malformed("The body holds a number that is too long.") from None


def _object(pairs: list[tuple[str, Json]]) -> JsonMap:
    found: JsonMap = {}
    for name, value in pairs:
        if name in found:
            raise _malformed(f"The field {name!r:.60} stands twice in one object.")
        found[name] = value
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _malformed(f"The number {text:.60} is too large.")
    return number


def _no_constant(text: str) -> NoReturn:
    raise _malformed(f"{text} is not JSON.")


def _look_through(data: Json) -> None:
    """Refuse deep nesting, and unreadable characters."""
    for depth, text in _texts(data):
        if depth > _MOST_DEPTH:
            raise _too_deep()
        if text is not None and (found := _UNPRINTABLE.search(text)):
            sentence = f"A text holds a control character (U+{ord(found[0]):04X})."
            raise RequestRefused(Problem("validation", sentence))


def _texts(data: Json) -> Iterator[tuple[int, str | None]]:
    waiting: list[tuple[int, Json]] = [(1, data)]
    while waiting:
        depth, value = waiting.pop()
        yield depth, value if isinstance(value, str) else None
        if isinstance(value, dict):
            waiting += [(depth, name) for name in value]
            waiting += [(depth + 1, part) for part in value.values()]
        elif isinstance(value, list):
            waiting += [(depth + 1, part) for part in value]


def _refusal(wrong: Sequence[tuple[str, str]]) -> RequestRefused:
    problems: list[Json] = [{"field": place, "detail": text} for place, text in wrong]
    place, sentence = wrong[0]
    more: JsonMap = {"field": place, "errors": problems[:_MOST_ERRORS]}
    return RequestRefused(Problem("validation", sentence, more))


def _malformed(sentence: str) -> RequestRefused:
    return RequestRefused(Problem("malformed", sentence))


def _too_deep() -> RequestRefused:
    sentence = f"The body is nested more than {_MOST_DEPTH} deep; nobody reads that far."
    return RequestRefused(Problem("validation", sentence))
