"""What the API publishes of the texts and fields it takes: what a client can know to be refused."""

import re
from typing import Annotated, Final, TypeAlias

from msgspec import Meta

from remit.errors import BadInput
from remit.model.codec import Json, JsonMap

DATE_TIME: Final = Meta(extra_json_schema={"format": "date-time"})
MaybeTime: TypeAlias = Annotated[str | None, DATE_TIME]
# Each kind of text says by a pattern what it must not hold.
_CONTROLS: Final = r"[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]"
_UNSEEN: Final = (  # control and format characters, private use, all spaces but the plain one
    r"[\u0000-\u001f\u007f-\u00a0\u00ad\u0600-\u0605\u061c\u06dd\u070f\u1680\u180e\u2000-\u200f"
    r"\u2028-\u202f\u205f-\u206f\u3000\ue000-\uf8ff\ufeff\ufff0-\uffff" + "\U000e0000-\U000e0fff]"
)
_UNREADABLE: Final = f"{_UNSEEN}|^ | $|^$"
_SURROGATE: Final = re.compile("[\ud800-\udfff]")  # no JSON text in UTF-8 can hold one


def _without_pattern(pattern: str) -> JsonMap:
    return {"not": {"type": "string", "pattern": pattern}}


PRINTABLE: Final = _without_pattern(_CONTROLS)
SAYS_SOMETHING: Final = _without_pattern(rf"{_CONTROLS}|^\s*$")
READABLE: Final = _without_pattern(_UNREADABLE)
Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=200, extra_json_schema=READABLE)]
ChannelWord: TypeAlias = Annotated[str, Meta(min_length=1, max_length=100)]
AddressText: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=500, extra_json_schema=READABLE)
]
SaidText: TypeAlias = Annotated[
    str, Meta(extra_json_schema={"maxLength": 100_000, **SAYS_SOMETHING})
]
TitleText: TypeAlias = Annotated[
    str,
    Meta(
        extra_json_schema={"maxLength": 300, **_without_pattern(rf"{_CONTROLS}|^\s*$|\S\s*\n\s*\S")}
    ),
]
ViewName: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=60, extra_json_schema=_without_pattern(f"{_UNREADABLE}|/"))
]
LongText: TypeAlias = Annotated[str, Meta(extra_json_schema={"maxLength": 100_000})]
_HASH: Final = Meta(extra_json_schema={"pattern": "^[0-9a-f]{64}$"})
# Files that are kept already: the hash of each, by its name.
Attachments: TypeAlias = Annotated[dict[ChannelWord, Annotated[str, _HASH]], Meta(max_length=10)]
TaskIdText: TypeAlias = Annotated[
    str, Meta(extra_json_schema={"pattern": "^task-[0-7][0-9A-HJKMNP-TV-Z]{25}$"})
]
WatchTarget: TypeAlias = Annotated[
    str,
    Meta(
        max_length=2_000,
        extra_json_schema={"pattern": "^(?:https?://|command:.|calendar:.|folder:/)", **READABLE},
    ),
]

# A rule in one order, so that each part stands once; the server takes any order.
_DAY: Final = "(?:MO|TU|WE|TH|FR|SA|SU)"
_RULE_END: Final = (
    "(?:;COUNT=[1-9][0-9]{0,2}|;UNTIL=20[0-9]{2}(?:(?:0[1-9]|1[0-2])(?:0[1-9]|1[0-9]|2[0-8])|"
    "(?:0[13-9]|1[0-2])(?:29|30)|(?:0[13578]|1[02])31)T(?:[01][0-9]|2[0-3])(?:[0-5][0-9]){2}Z)?"
)


def _list_of(part: str, value: str) -> str:
    return f"(?:;{part}={value}(?:,{value})*)?"


def _parts(day: str) -> str:
    months, monthdays = "(?:[1-9]|1[0-2])", "-?(?:[1-9]|[12][0-9]|3[01])"
    return (
        "(?:;INTERVAL=[1-9][0-9]{0,2})?"
        + _list_of("BYMONTH", months)
        + _list_of("BYMONTHDAY", monthdays)
        + _list_of("BYDAY", day)
    )


_TIME_OF_DAY: Final = _list_of("BYHOUR", "(?:1?[0-9]|2[0-3])") + _list_of("BYMINUTE", "[1-5]?[0-9]")
RULE_PATTERN: Final = (
    f"^(?:RRULE:)?FREQ=(?:(?:MINUTELY|HOURLY){_parts(_DAY)}"
    f"|(?:DAILY|WEEKLY|YEARLY){_parts(_DAY)}{_TIME_OF_DAY}"
    f"|MONTHLY{_parts('(?:-?[1-5])?' + _DAY)}{_TIME_OF_DAY}){_RULE_END}$"
)


def object_schema(**properties: Json) -> JsonMap:
    """Match an object with exactly these fields."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list[Json](properties),
        "properties": properties,
    }


def no_value(*names: str) -> JsonMap:
    """Match a body in which all these fields are missing or null."""
    return {"properties": {name: {"type": "null"} for name in names}}


def values(*names: str) -> JsonMap:
    """Match a body that gives a value for all these fields."""
    given: JsonMap = {name: {"not": {"type": "null"}} for name in names}
    return {"required": list[Json](names), "properties": given}


def any_value(*names: str) -> JsonMap:
    """Match a body that gives a value for at least one of these fields."""
    if len(names) == 1:
        return values(*names)
    return {"if": no_value(names[0]), "then": any_value(*names[1:])}


def either(one: str, other: str) -> JsonMap:
    """Match a body that gives a value for exactly one of two fields."""
    return {"if": no_value(one), "then": values(other), "else": no_value(other)}


def none_of(*wrong: JsonMap) -> JsonMap:
    return {"not": {"anyOf": list[Json](wrong)}}


def readable_line(text: str) -> str:
    """Return a name without spaces at its ends; one that cannot be read is refused."""
    text = text.strip()
    if not is_readable_line(text):
        raise BadInput(f"{text!r:.60} must be text on one line that can be read.", field="name")
    return text


def is_readable_line(text: str) -> bool:
    """Whether a name is one line that can be read, without spaces at its ends."""
    return not re.search(_UNREADABLE, text) and not _SURROGATE.search(text)
