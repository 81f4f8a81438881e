"""Tells whether the style of an element hides its text, or may hide it.

Text is hidden if it has no size, no place on the page, or the colour of what is behind it. Hidden
words are never the writer's.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, cast

from msgspec import Struct

from remit.language.files import read_toml

_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE: Final = re.compile(r"([^{}]+)\{([^{}]*)\}")
_SIMPLE: Final = re.compile(r"([\w-]+)?((?:[.#][\w-]+)*)(?::{1,2}[\w-]+)?$")
_NAMED: Final = re.compile(r"[.#][\w-]+")
_NUMBER: Final = re.compile(r"([-+]?\d*\.?\d+)(px|pt|em|rem|ex|ch|%|vw|vh|in|cm|mm|pc)?")
_DATA: Final = cast(
    "Mapping[str, Mapping[str, list[str]]]", read_toml("html", "remit.channels.mail")
)
_KEYWORDS: Final = _DATA["hiding"]
_SIZES, _SHIFTS, _EFFECTS = _DATA["properties"].values()
_NO_EFFECT: Final = frozenset(("", "none", "normal", "initial", "inherit", "unset"))
# What they make of their numbers is not worked out here.
_COMPUTED: Final = re.compile(r"\b(?:calc|min|max|clamp|var|env|attr)\(")
_OTHER_COLOUR: Final = re.compile(r"\b(?!rgba?\()[a-z-]+\(")
_TURNS: Final = re.compile(r"\b(?:matrix|rotate|skew|perspective|scale|translate)(?:3d|[xyz])?\(")
_NARROWEST_SPACING: Final = {"em": -0.3, "rem": -0.3, "": -4.0, "px": -4.0, "pt": -3.0}
_COLOURS: Final = cast("Mapping[str, str]", _DATA["colours"])
_CUTS: Final = re.compile(
    r"\b(?:rect|inset|circle|scale[xy]?|opacity|polygon)\(\s*(?:0|1px|50%|100%)"
)
_FAR: Final = 200  # pixels; so far outside is off the page
_SMALLEST: Final = {"px": 2.0, "pt": 1.5, "%": 15.0, "": 0.05}  # and of the letter's size
_SMALLEST_OF_LETTER: Final = 0.15
_OF_LETTERS: Final = frozenset(("font-size", "opacity", "zoom", "scale"))
_PARTS: Final = re.compile(r"(?<![#\w])\d*\.?\d+")
_WITH_ALPHA: Final = 4  # parts of a colour
_FAINT: Final = 0.1
_NEAR: Final = 40  # of 255, in each part of a colour
Colour = tuple[int, int, int]
WHITE: Final[Colour] = (255, 255, 255)


class StyleSheet(Struct, frozen=True):
    """Names of tags, classes (`.a`) and ids (`#a`) whose elements a style sheet hides.

    `is_clear` is False if it hides something that these names do not describe.
    """

    hidden: frozenset[str] = frozenset()
    is_clear: bool = True

    def hides(self, tag: str, attributes: Mapping[str, str]) -> bool:
        classes = (f".{each}" for each in attributes.get("class", "").split())
        return not self.hidden.isdisjoint((tag, f"#{attributes.get('id', '')}", *classes))


def read_sheet(css: str) -> StyleSheet:
    """Return which elements a style sheet hides; a rule for narrow screens counts, too."""
    hidden: set[str] = set()
    clear = True
    for selectors, body in _RULE.findall(_COMMENT.sub("", css.lower())):
        if not hides(declarations(body), WHITE):
            continue
        for selector in selectors.rpartition("}")[2].split(","):
            last = _SIMPLE.match((selector.split() or ["*"])[-1])
            names = _NAMED.findall(last[2]) if last else []
            clear = clear and last is not None and bool(names or last[1])
            hidden.update(names or filter(None, [last[1] if last else None]))
    return StyleSheet(frozenset(hidden), clear)


def declarations(style: str) -> dict[str, str]:
    """Return the properties of a style, without comments and `!important`."""
    parts = (each.partition(":") for each in _COMMENT.sub("", style.lower()).split(";"))
    return {
        name.strip(): value.replace("!important", "").strip()
        for name, colon, value in parts
        if colon
    }


def hides(style: Mapping[str, str], behind: Colour) -> bool:
    """Whether text in this style cannot be seen before a background."""
    # Escapes have no use but to hide what is meant.
    escaped = any("\\" in part for pair in style.items() for part in pair)
    named = any(style.get(name) in values for name, values in _KEYWORDS.items())
    sizes = [(name, style[name]) for name in _SIZES if name in style]
    sizes += (("font-size", size) for size in _font_sizes(style.get("font", "")))
    changed = any(style.get(name, "") not in _NO_EFFECT for name in _EFFECTS)
    cut = (style.get(name, "") for name in ("clip", "clip-path", "transform", "filter"))
    return (
        escaped
        or named
        or changed
        or _is_turned(style.get("transform", ""))
        or _is_squeezed(style.get("letter-spacing", ""))
        or any(_is_tiny(name, value) for name, value in sizes)
        or any(map(_CUTS.search, cut))
        or any(map(_is_far, _shifts(style)))
        or _is_unseen(style, behind)
    )


def background(style: Mapping[str, str]) -> Colour | None:
    """Return the background that a style sets, if its colour is known."""
    values = (style.get(name, "") for name in ("background-color", "background"))
    return next(filter(None, map(_colour, values)), None)


def _is_unseen(style: Mapping[str, str], behind: Colour) -> bool:
    written = style.get("color", "")
    painted = f"{style.get('background', '')} {style.get('background-image', '')}"
    if _OTHER_COLOUR.search(written) or (written and "gradient(" in painted):
        return True
    parts = _PARTS.findall(written)
    if len(parts) == _WITH_ALPHA and float(parts[-1]) < _FAINT:
        return True
    colour, shown = _colour(written), background(style) or behind
    return colour is not None and all(
        abs(one - two) <= _NEAR for one, two in zip(colour, shown, strict=True)
    )


def _colour(value: str) -> Colour | None:
    text = value.strip()
    named = (_COLOURS.get(word) for word in (text, *text.split()))
    text = next(filter(None, named), text)
    found = re.search(r"#([0-9a-f]{3,8})\b", text)
    if found:
        digits = found[1] if len(found[1]) >= 6 else "".join(2 * each for each in found[1])  # noqa: PLR2004 - #rrggbb
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)
    parts = re.search(r"rgba?\(\s*(\d+)[,\s]+(\d+)[,\s]+(\d+)", text)
    return (int(parts[1]), int(parts[2]), int(parts[3])) if parts else None


def _is_tiny(name: str, value: str) -> bool:
    if _COMPUTED.search(value):
        return True
    found = _NUMBER.match(value)
    if not found:
        return False
    number, unit = float(found[1]), found[2] or ""
    if name not in _OF_LETTERS:
        return number <= (1 if unit == "px" else 0)
    return number <= _SMALLEST.get(unit, _SMALLEST_OF_LETTER)


def _font_sizes(font: str) -> Iterator[str]:
    """Yield what may be the size in a `font`: a number with a unit, or a bare 0."""
    for part in font.replace("/", " ").split():
        found = _NUMBER.fullmatch(part)
        if _COMPUTED.match(part) or (found and (found[2] or not float(found[1]))):
            yield part


def _is_turned(transform: str) -> bool:
    """Whether an element is moved in a way that is not worked out: `translatex` and such are."""
    return any(
        found[0] not in {"translate(", "translatex(", "translatey("}
        for found in _TURNS.finditer(transform)
    )


def _is_squeezed(spacing: str) -> bool:
    found = _NUMBER.match(spacing)
    return found is not None and float(found[1]) <= _NARROWEST_SPACING.get(found[2] or "", -1.0)


def _shifts(style: Mapping[str, str]) -> Iterator[str]:
    for name in _SHIFTS:
        yield from style.get(name, "").split()
    yield from re.findall(r"translate[xy]?\(([^)]*)\)", style.get("transform", ""))


def _is_far(value: str) -> bool:
    for number, unit in _NUMBER.findall(value):
        limit = {"px": _FAR, "pt": _FAR, "%": 90, "": _FAR}.get(unit, _FAR / 16)
        if abs(float(number)) >= limit and (
            number.startswith("-") or abs(float(number)) >= 5 * limit
        ):
            return True
    return False
