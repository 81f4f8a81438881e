"""Request bodies: parsed strictly, or refused with the name of the wrong field."""

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import (
    Annotated,
    Final,
    NoReturn,
    TypeAlias,
    TypeVar,
    cast,
)
from urllib.parse import parse_qsl, unquote, urlencode

from msgspec import Meta, Struct, structs
from msgspec.structs import FieldInfo
from starlette.requests import ClientDisconnect, Request

from remit.formats.struct_fields import WrongFields, parse_struct
from remit.model.codec import Json, JsonMap
from remit.model.task_file import FileContent
from remit.operations.arguments import Arguments
from remit.server.problem import RequestRefused

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


async def receive(request: Request, most: int = MOST_BYTES) -> bytes:
    """Return the body, if it is not too large; a larger one is not read to its end."""
    found = bytearray()
    try:
        if int(request.headers.get("content-length", "0")) > most:
            raise _too_large(most)
        async for chunk in request.stream():
            found += chunk
            if len(found) > most:
                raise _too_large(most)
    except ClientDisconnect:
        raise _malformed_body("The body ended before its end.") from None
    return bytes(found)


def _too_large(most: int) -> RequestRefused:
    sentence = f"A body may have {most} bytes; this one has more."
    return RequestRefused("too-large", sentence)


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
    _check_readable(data)
    return _parsed(kind, data, given or {}, strict=True)


def read_form(kind: type[M], raw: bytes, given: Mapping[str, object] | None = None) -> M:
    """Parse a form. A repeated field is a list; an empty one is omitted."""
    try:
        pairs = parse_qsl(raw.decode("ascii"), strict_parsing=True, errors="strict") if raw else []
    except ValueError:
        raise _malformed_body("The form cannot be read.") from None
    found: dict[str, Json] = {}
    for name, value in pairs:
        text = value.replace("\r\n", "\n")  # browsers write line ends as two characters
        before = found.get(name)
        found[name] = text if before is None else [*_listify(before), text]
    _check_readable(found)
    # Loosely: a form sends only text, and only a repeated field is a list.
    return _parsed(kind, found, given or {}, strict=False)


def _parsed(kind: type[M], data: Json, given: Mapping[str, object], *, strict: bool) -> M:
    if issubclass(kind, RequestBody) and isinstance(data, dict):
        data = kind.gather(data)
    try:
        return parse_struct(kind, body_fields(kind), data, given, strict=strict)
    except WrongFields as wrong:
        raise _refusal(wrong) from None


def read_multipart(raw: bytes, kind: str) -> tuple[bytes, tuple[FileContent, ...]]:
    """Return the fields of a form with files, as another form sends them, and the files.

    The field of a file is its hash and its name, as our script sends a file that it kept before.
    """
    found = _BOUNDARY.fullmatch(kind)
    first, *parts = (b"\r\n" + raw).split(b"\r\n--" + found[1].encode()) if found else (raw,)
    if first or not parts or parts.pop()[:2] != b"--" or len(parts) > _MOST_PARTS:
        raise _malformed_body("The form cannot be read.")
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
        raise _malformed_body("The form cannot be read.")
    file = found.get("filename")
    return found["name"], file if file is None else unquote(file, errors="replace")


def _listify(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def _json(raw: bytes) -> Json:
    if not raw:
        raise _malformed_body("The body is empty; send a JSON object.")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _malformed_body(f"The body is not UTF-8 (byte {error.start}).") from None
    try:
        return cast(
            "Json",
            json.loads(
                text, object_pairs_hook=_object, parse_float=_finite, parse_constant=_no_constant
            ),
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise _malformed_body(f"The body is not JSON: {error.msg} ({where}).") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:  # Python refuses integers with thousands of digits
        raise _malformed_body("The body holds a number that is too long.") from None


def _object(pairs: list[tuple[str, Json]]) -> JsonMap:
    found: JsonMap = {}
    for name, value in pairs:
        if name in found:
            raise _malformed_body(f"The field {name!r:.60} stands twice in one object.")
        found[name] = value
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _malformed_body(f"The number {text:.60} is too large.")
    return number


def _no_constant(text: str) -> NoReturn:
    raise _malformed_body(f"{text} is not JSON.")


def _check_readable(data: Json) -> None:
    """Refuse deep nesting, and unreadable characters."""
    for depth, text in _texts(data):
        if depth > _MOST_DEPTH:
            raise _too_deep()
        if text is not None and (found := _UNPRINTABLE.search(text)):
            sentence = f"A text holds a control character (U+{ord(found[0]):04X})."
            raise RequestRefused("validation", sentence)


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


def _refusal(wrong: WrongFields) -> RequestRefused:
    problems: list[Json] = [{"field": place, "detail": text} for place, text in wrong.found]
    place, sentence = wrong.found[0]
    more: JsonMap = {"field": place, "errors": problems[:_MOST_ERRORS]}
    return RequestRefused("validation", sentence, more)


def _malformed_body(sentence: str) -> RequestRefused:
    return RequestRefused("malformed", sentence)


def _too_deep() -> RequestRefused:
    sentence = f"The body is nested more than {_MOST_DEPTH} deep; nobody reads that far."
    return RequestRefused("validation", sentence)
