"""Request bodies: parsed strictly, or refused with the name of the wrong field."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final, Literal, NoReturn, TypeVar, cast
from urllib.parse import parse_qsl

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, ValidationError

from remit.model.caller import Scope
from remit.model.codec import Json, JsonMap
from remit.model.contract import ContractType, GeneratedFrom, Timing
from remit.model.reply import Policy
from remit.model.review import ReviewAnswer
from remit.model.series import OnMissed, Overlap
from remit.model.task import Priority
from remit.server.problem import Problem, RequestRefused

MOST_BYTES: Final = 1024 * 1024
_MOST_DEPTH: Final = 32
_MOST_ERRORS: Final = 10
# Control characters (except tab and line ends), and lone surrogates.
_UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")

M = TypeVar("M", bound=BaseModel)


class RequestBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _item(value: object) -> object:
    return {"description": value} if isinstance(value, str) else value


class NewItem(RequestBody):
    description: str


class NewDelivery(RequestBody):
    channel: str
    recipient: str | None = None
    content: str | None = None


class NewCriterion(RequestBody):
    activity: str
    description: str
    pattern: str | None = None
    timing: Annotated[Timing, Field(strict=False)] = Timing.IMMEDIATE


class NewContract(RequestBody):
    type: Annotated[ContractType, Field(strict=False)]
    criteria: Annotated[list[NewCriterion], Field(max_length=100)]
    generated_from: Annotated[GeneratedFrom, Field(alias="generatedFrom", strict=False)] = (
        GeneratedFrom.USER
    )
    generated_at: Annotated[str | None, Field(alias="generatedAt")] = None


class NewRepeats(RequestBody):
    """How often it comes back: an RRULE, the zone of its hours, the first time."""

    rule: Annotated[str, Field(max_length=500)]
    zone: Annotated[str, Field(max_length=100)]
    first: Annotated[str, Field(json_schema_extra={"format": "date-time"})]


class NewTask(RequestBody):
    """Work to entrust: the owner's words as `text`, or a `title` and what belongs to it."""

    text: str | None = None
    title: str | None = None
    instructions: str | None = None
    work: Annotated[
        list[Annotated[NewItem, BeforeValidator(_item, json_schema_input_type=str | NewItem)]],
        Field(max_length=200),
    ] = []
    delivery: Annotated[list[NewDelivery] | None, Field(max_length=50)] = None
    scheduled_for: Annotated[
        str | None,
        Field(alias="scheduledFor", json_schema_extra={"format": "date-time"}),
    ] = None
    repeats: NewRepeats | None = None
    priority: Annotated[Priority | None, Field(strict=False)] = None
    context: dict[str, JsonValue] = {}
    contract: NewContract | None = None
    project: Annotated[str | None, Field(max_length=100)] = None
    files: Annotated[list[Annotated[str, Field(max_length=500)]], Field(max_length=1_000)] = []
    prd: bool | Annotated[str, Field(max_length=500)] = False  # the document, as prd.md#US-1


class NewMessage(RequestBody):
    """What the owner says. With `dryRun` it is only told what would become of it.

    With `conversationId` it is a turn there, and may also answer, stop or change something. If a
    model reads messages, the answer says `reading: true` at once; with `wait` it comes once they
    are read.
    """

    text: Annotated[str, Field(max_length=100_000)]
    scheduled_for: Annotated[
        str | None,
        Field(alias="scheduledFor", json_schema_extra={"format": "date-time"}),
    ] = None
    repeats: NewRepeats | None = None
    priority: Annotated[Priority | None, Field(strict=False)] = None
    dry_run: Annotated[bool, Field(alias="dryRun")] = False
    wait: bool = False
    conversation_id: Annotated[
        str | None, Field(alias="conversationId", min_length=1, max_length=200)
    ] = None


class TaskChange(RequestBody):
    """What is to be done with a task; or, before it begins, what is to be different."""

    action: Literal["pause", "resume", "cancel", "run"] | None = None
    title: str | None = None
    instructions: str | None = None
    scheduled_for: Annotated[
        str | None,
        Field(alias="scheduledFor", json_schema_extra={"format": "date-time"}),
    ] = None
    priority: Annotated[Priority | None, Field(strict=False)] = None
    delivery: Annotated[list[NewDelivery] | None, Field(max_length=50)] = None


class Postponement(RequestBody):
    """Till when a question is put off: a time, or a number of hours from now."""

    until: Annotated[str | None, Field(json_schema_extra={"format": "date-time"})] = None
    hours: Annotated[int, Field(ge=1, le=2160)] | None = None


class SkipSlot(RequestBody):
    """Which slot is left out; the next one, if none is named."""

    slot: Annotated[str | None, Field(json_schema_extra={"format": "date-time"})] = None


class MoveSlot(RequestBody):
    """Which occurrence is run at another time; the next one, if none is named."""

    to: Annotated[str, Field(json_schema_extra={"format": "date-time"})]
    slot: Annotated[str | None, Field(json_schema_extra={"format": "date-time"})] = None


class SeriesRules(RequestBody):
    """What becomes of slots that are missed, or due while one is open; what is left out stays."""

    missed: Annotated[OnMissed | None, Field(strict=False)] = None
    overlap: Annotated[Overlap | None, Field(strict=False)] = None


class Bulk(RequestBody):
    """What is done with many tasks: those that are named, or all that match a filter line."""

    action: Literal["run", "pause", "resume", "cancel", "retry", "delete"]
    ids: Annotated[list[Annotated[str, Field(max_length=60)]] | None, Field(max_length=10_000)] = (
        None
    )
    filter: Annotated[str | None, Field(max_length=2_000)] = None
    dry_run: Annotated[bool, Field(alias="dryRun")] = False


class NewView(RequestBody):
    """A filter line under a name."""

    name: Annotated[str, Field(min_length=1, max_length=60)]
    filter: Annotated[str, Field(max_length=2_000)]


class NewRule(RequestBody):
    """A standing word of the owner. So far there is one kind: who is written to unasked."""

    kind: Literal["permission"]
    contact: Annotated[str, Field(min_length=1, max_length=500)]
    channel: Annotated[str, Field(min_length=1, max_length=100)]
    policy: Annotated[Policy, Field(strict=False)] = Policy.ALLOW


class NewContact(RequestBody):
    """Someone for the book; of who is in it, what is new is added."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    channels: Annotated[
        dict[
            Annotated[str, Field(min_length=1, max_length=100)],
            Annotated[str, Field(min_length=1, max_length=500)],
        ],
        Field(max_length=20),
    ] = {}
    aliases: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=20)
    ] = []
    role: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class ChangedContact(RequestBody):
    """What an entry of the book becomes: what is left out stays, what is null goes."""

    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    channels: Annotated[
        dict[
            Annotated[str, Field(min_length=1, max_length=100)],
            Annotated[str, Field(min_length=1, max_length=500)] | None,
        ],
        Field(max_length=20),
    ] = {}
    aliases: (
        Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=20)]
        | None
    ) = None
    role: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class ChannelTest(RequestBody):
    """A test message to the owner, or to someone in the book."""

    to: Annotated[str, Field(min_length=1, max_length=500)] | None = None


class NewDecision(RequestBody):
    answer: Annotated[ReviewAnswer, Field(strict=False)]
    text: Annotated[str | None, Field(max_length=100_000)] = None
    always: bool = False


class NewPermission(RequestBody):
    """Whether someone is written to on a channel, from now on."""

    contact: Annotated[str, Field(max_length=500)]
    channel: Annotated[str, Field(max_length=100)]
    policy: Annotated[Policy, Field(strict=False)]


class NewToken(RequestBody):
    """A program's way in, and what it may do."""

    name: Annotated[str, Field(max_length=60)]
    scopes: Annotated[list[Annotated[Scope, Field(strict=False)]], Field(max_length=10)]
    agent: bool = False
    days: Annotated[int, Field(ge=1, le=3660)] | None = None


class EmptyBody(RequestBody):
    """For requests that say all in their address."""


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
                text,
                object_pairs_hook=_object,
                parse_float=_finite,
                parse_constant=_no_constant,
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
    told: list[Json] = []
    for each in found[:_MOST_ERRORS]:
        place = _place(each["loc"])
        told.append({"field": place, "detail": _sentence(kind, each["type"], place, each["msg"])})
    first = cast("Mapping[str, str]", told[0])
    more: JsonMap = {"field": first["field"], "errors": told}
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
