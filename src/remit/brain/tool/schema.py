"""Checks tool arguments against the plain part of JSON Schema and explains what is wrong.

Keywords it does not know (patterns, references, anyOf) pass; the tool checks for itself. So a wrong
call costs the owner no question, and a right one is never refused.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from remit.model.codec import Json, JsonMap

_MAX_DEPTH: Final = 12


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Json) -> bool:
    return isinstance(value, int | float) and _is_number(value) and value == value // 1


_TYPES: Final[Mapping[str, tuple[Callable[[Json], bool], str]]] = {
    "string": (lambda value: isinstance(value, str), "text"),
    "integer": (_is_whole, "a whole number"),
    "number": (_is_number, "a number"),
    "boolean": (lambda value: isinstance(value, bool), "true or false"),
    "array": (lambda value: isinstance(value, list), "a list"),
    "object": (lambda value: isinstance(value, dict), "an object"),
    "null": (lambda value: value is None, "null"),
}


def problem(schema: JsonMap, args: JsonMap) -> str | None:
    """Return the first thing wrong with some arguments, or None."""
    return next(_problems(schema, args, "the arguments", 0), None)


def size(schema: Json, depth: int = 0) -> tuple[int, int]:
    """Return how many parts a schema has, and how deep it is."""
    inner = list(schema.values()) if isinstance(schema, dict) else schema
    if not isinstance(inner, list) or depth > 2 * _MAX_DEPTH:
        return 1, depth
    sizes = [size(part, depth + 1) for part in inner] or [(0, depth)]
    return 1 + sum(parts for parts, _ in sizes), max(deep for _, deep in sizes)


def _problems(schema: Json, value: Json, where: str, depth: int) -> Iterator[str]:
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return
    wrong = _type(schema, value, where) or _choice(schema, value, where)
    wrong = wrong or _bounds(schema, value, where)
    if wrong:
        yield wrong
    elif isinstance(value, dict):
        yield from _members(schema, value, where, depth)
    elif isinstance(value, list):
        for n, part in enumerate(value, 1):
            yield from _problems(schema.get("items"), part, f"{where}, number {n},", depth + 1)


def _members(schema: JsonMap, value: JsonMap, where: str, depth: int) -> Iterator[str]:
    known = schema.get("properties")
    parts = known if isinstance(known, dict) else {}
    needed = schema.get("required")
    for name in needed if isinstance(needed, list) else ():
        if isinstance(name, str) and name not in value:
            yield f"{where:.80} must have {name!r:.60}."
    if schema.get("additionalProperties") is False:
        for name in sorted(value.keys() - parts.keys()):
            yield f"There is no argument {name!r:.60}; there is {', '.join(parts) or 'none'}."
    for name, part in value.items():
        yield from _problems(parts.get(name), part, name, depth + 1)


def _type(schema: JsonMap, value: Json, where: str) -> str | None:
    wanted = schema.get("type")
    names = wanted if isinstance(wanted, list) else [wanted]
    known = [_TYPES[name] for name in names if isinstance(name, str) and name in _TYPES]
    if not known or len(known) < len(names) or any(fits(value) for fits, _ in known):
        return None
    return f"{where:.80} must be {' or '.join(word for _, word in known)}, not {value!r:.60}."


def _choice(schema: JsonMap, value: Json, where: str) -> str | None:
    choices = schema.get("enum")
    if not isinstance(choices, list) or value in choices:
        return None
    return f"{where:.80} is {value!r:.60}; it may be {', '.join(map(str, choices))[:200]}."


def _bounds(schema: JsonMap, value: Json, where: str) -> str | None:
    if isinstance(value, str):
        return _within(schema, "Length", len(value), where, " characters")
    if isinstance(value, list):
        return _within(schema, "Items", len(value), where, " parts")
    if isinstance(value, int | float) and _is_number(value):
        return _within(schema, "imum", value, where)
    return None


def _within(schema: JsonMap, end: str, size: float, where: str, unit: str = "") -> str | None:
    least, most = schema.get(f"min{end}"), schema.get(f"max{end}")
    if isinstance(least, int | float) and size < least:
        return f"{where:.80} must be at least {least}{unit}, not {size}."
    if isinstance(most, int | float) and size > most:
        return f"{where:.80} must be at most {most}{unit}, not {size}."
    return None
