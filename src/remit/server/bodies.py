"""Request bodies: parsed strictly, or refused with the name of the wrong field."""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from types import GenericAlias, UnionType
from typing import (
    Annotated,
    Final,
    NoReturn,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)
from urllib.parse import parse_qsl, unquote, urlencode

from msgspec import NODEFAULT, UNSET, Meta, UnsetType, structs
from msgspec.structs import FieldInfo
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    create_model,
)

from remit.model.codec import Json, JsonMap
from remit.model.task_file import FileContent
from remit.operations.arguments import ArgumentPart, Arguments, NewItem
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

M = TypeVar("M", bound=BaseModel)


class RequestBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class EmptyBody(RequestBody):
    """For requests that say all in their address."""


@cache
def model_of(kind: type[ArgumentPart]) -> type[RequestBody]:
    """What checks and describes the body of an operation, made from its arguments."""
    fields = {
        field.name: (_type(hints[field.name]), Field(_default(field), alias=field.encode_name))
        for hints in [get_type_hints(kind, include_extras=True)]
        for field in _sent(kind)
    }
    if not fields:
        return EmptyBody
    make = cast("Callable[..., type[RequestBody]]", create_model)  # no type names made-up fields
    config = ConfigDict(json_schema_extra=cast("JsonMap", kind.together))
    base = type("RequestBody", (RequestBody,), {"model_config": config})
    return make(kind.__name__, __base__=base, __doc__=kind.__doc__, **fields)


def _sent(kind: type[ArgumentPart]) -> Iterator[FieldInfo]:
    """The fields of a body: all but what the address names, and what no program may send."""
    elsewhere: set[str] = set()
    if issubclass(kind, Arguments):
        elsewhere = {*kind.in_path().values(), *kind.internal}
    return (field for field in structs.fields(kind) if field.name not in elsewhere)


def _default(field: FieldInfo) -> object:
    if field.default_factory is not NODEFAULT:
        return field.default_factory()
    if field.default is NODEFAULT:
        return ...
    return None if field.default is UNSET else field.default


def _type(hint: object) -> object:
    """A type of the arguments as pydantic knows it: limits as fields, objects as models."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        limits = map(_limits, parts[1:])
        first = [BeforeValidator(_whole_number)] if parts[0] is int else []
        return Annotated[_type(parts[0]), *limits, *first]
    if origin in (Union, UnionType):
        return _union(parts)
    return _of_many(origin, parts) if origin in (list, dict, tuple) else _plain(hint)


def _union(parts: tuple[object, ...]) -> object:
    if parts != (str, NewItem):
        return Union[tuple(_type(each) for each in parts if each is not UnsetType)]  # noqa: UP007
    item = model_of(NewItem)
    return Annotated[item, BeforeValidator(_item, json_schema_input_type=str | item)]


def _of_many(origin: type, parts: tuple[object, ...]) -> object:
    if origin is tuple:  # of a form
        items = tuple.__class_getitem__((_type(parts[0]), ...))
        return Annotated[items, BeforeValidator(as_list)]
    if parts == (str, object):
        return dict[str, JsonValue]
    return GenericAlias(origin, tuple(map(_type, parts)))


def _plain(hint: object) -> object:
    if isinstance(hint, type) and issubclass(hint, ArgumentPart):
        return model_of(hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return Annotated[hint, Field(strict=False)]
    return hint


def _limits(meta: Meta) -> object:
    names = ("ge", "le", "min_length", "max_length")
    limits = {name: getattr(meta, name) for name in names if getattr(meta, name) is not None}
    return Field(json_schema_extra=meta.extra_json_schema, **limits)


def as_list(value: object) -> object:
    """A field of a form that stands once is a text."""
    return [value] if isinstance(value, str) else value


# What a form says of files: the hash of each, and its name.
FileNames: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(as_list), Field(max_length=20)]


def _whole_number(value: object) -> object:
    """To JSON 3.0 is an integer, too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _item(value: object) -> object:
    return {"description": value} if isinstance(value, str) else value


def read(kind: type[M], raw: bytes) -> M:
    """Parse a body; every error is named, the first one in a sentence."""
    if not raw and not kind.model_fields:
        return kind()
    data = _json(raw)
    _look_through(data)
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise _refusal(kind, error) from None


def read_form(kind: type[M], raw: bytes) -> M:
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
    try:
        # Loosely: a form sends only text, and only a repeated field is a list.
        return kind.model_validate(found, strict=False)
    except ValidationError as error:
        raise _refusal(kind, error) from None


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


def _refusal(kind: type[BaseModel], error: ValidationError) -> RequestRefused:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    problems: list[Json] = []
    for each in found[:_MOST_ERRORS]:
        place = _place(each["loc"])
        problems.append(
            {"field": place, "detail": _sentence(kind, each["type"], place, each["msg"])}
        )
    first = cast("Mapping[str, str]", problems[0])
    more: JsonMap = {"field": first["field"], "errors": problems}
    return RequestRefused(Problem("validation", first["detail"], more))


def _place(location: Sequence[str | int]) -> str:
    return ".".join(f"{part!s:.60}" for part in location)


def _sentence(kind: type[BaseModel], what: str, place: str, message: str) -> str:
    match what:
        case "extra_forbidden":
            known = ", ".join(field.alias or name for name, field in kind.model_fields.items())
            hint = f" Known: {known or 'none'}." if "." not in place else ""
            return f"There is no field {place!r}.{hint}"
        case "missing":
            return f"The field {place!r} is missing."
        case "string_type":
            return f"{place!r} must be text."
        case "model_type":
            return f"{place!r} must be an object." if place else "The body must be a JSON object."
        case _:
            return f"{place!r}: {message}."


def _malformed(sentence: str) -> RequestRefused:
    return RequestRefused(Problem("malformed", sentence))


def _too_deep() -> RequestRefused:
    sentence = f"The body is nested more than {_MOST_DEPTH} deep; nobody reads that far."
    return RequestRefused(Problem("validation", sentence))
