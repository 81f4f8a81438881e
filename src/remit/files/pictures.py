"""Whether a picture is that and nothing more: no other file in or behind it, no script."""

import html
import re
from collections.abc import Callable
from typing import Final

_GIF_EXTENSION, _GIF_IMAGE, _GIF_END = 0x21, 0x2C, 0x3B
_JPEG_SCAN, _JPEG_END = 0xDA, 0xD9
_JPEG_ALONE: Final = frozenset((0x01, *range(0xD0, 0xDA)))  # markers without a length
# Sizes that begin a comment or an assignment, so that the whole file is a script, too.
_SCRIPT: Final = re.compile(
    rb"GIF8[79]a(?:/[*/]|[\t-\r -~]{4})|\xff\xd8\xff.(?:/[*/]|=[\t-\r -~]{6})|RIFF/[*/]", re.DOTALL
)


def picture_problem(content: bytes) -> str | None:
    """Return why a picture of pixels may not be sent; the first bytes say of which kind it is."""
    if _SCRIPT.match(content):
        return "is a script at the same time"
    try:
        end = next(walk for magic, walk in _WALKS if content.startswith(magic))(content)
    except IndexError:
        return "is not a whole picture"
    if end is None or end > len(content):
        return "is not a whole picture"
    return "has something behind the picture" if content[end:].strip(b"\0\r\n") else None


def _gif(content: bytes) -> int | None:
    at = 13 + _gif_colours(content[10])
    while content[at] != _GIF_END:
        if content[at] == _GIF_EXTENSION:
            at += 2
        elif content[at] == _GIF_IMAGE:
            at += 11 + _gif_colours(content[at + 9])
        else:
            return None
        while content[at]:  # its data, in blocks
            at += 1 + content[at]
        at += 1
    return at + 1


def _gif_colours(flags: int) -> int:
    """Return how many bytes a table of colours takes."""
    return 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0


def _png(content: bytes) -> int | None:
    at = 8
    while (kind := content[at + 4 : at + 8]).isalpha():
        at += 12 + int.from_bytes(content[at : at + 4])
        if kind == b"IEND":
            return at
    return None


def _jpeg(content: bytes) -> int | None:
    """Find the end; cameras put smaller pictures of the same behind the first."""
    at = 2
    while content[at] == 0xFF:  # noqa: PLR2004 - how each marker begins
        marker = content[at + 1]
        if marker == _JPEG_END and not content.startswith(b"\xff\xd8\xff", at + 2):
            return at + 2
        if marker == 0xFF:  # noqa: PLR2004 - a byte that fills
            at += 1
            continue
        at += 2 + (0 if marker in _JPEG_ALONE else int.from_bytes(content[at + 2 : at + 4]))
        if marker == _JPEG_SCAN:
            at = _jpeg_after_scan(content, at)
    return None


def _jpeg_after_scan(content: bytes, at: int) -> int:
    """Return where the pixels end: at the next marker that is not one of theirs."""
    while (at := content.find(b"\xff", at)) >= 0 and at + 1 < len(content):
        if content[at + 1] not in (0, *range(0xD0, 0xD8)):
            return at
        at += 2
    raise IndexError


def _webp(content: bytes) -> int | None:
    end = 8 + int.from_bytes(content[4:8], "little")
    return end if content[12:15] == b"VP8" and end <= len(content) else None


_WALKS: Final[tuple[tuple[bytes, Callable[[bytes], int | None]], ...]] = (
    (b"GIF8", _gif),
    (b"\x89PNG", _png),
    (b"\xff\xd8", _jpeg),
    (b"RIFF", _webp),
)
_OWN: Final = r"#|data:image/(?:png|jpe?g|gif|webp)[;,]"  # what needs nothing from elsewhere
_ACTIVE_SVG: Final = re.compile(
    r"<\s*(?:[\w.-]+:)?(?:script|foreignobject|iframe|embed|object|handler)\b"
    r"|<!(?:entity|attlist)|<\?xml-stylesheet|@import|\son\w+\s*="
    r"|attributename\s*=\s*[\"']?\s*(?:on|(?:\w+:)?href)"
    rf"|(?:href|src)\s*=\s*[\"']?\s*(?!\s|[\"']|{_OWN})"
    rf"|url\(\s*[\"']?\s*(?!\s|[\"']|{_OWN})",
    re.IGNORECASE,
)
_SCRIPT_ADDRESS: Final = re.compile(r"(?:java|vb)script:", re.IGNORECASE)


def svg_problem(content: bytes) -> str | None:
    """Return why a drawing may not be sent: it acts, or is not all in the file."""
    text = html.unescape(content.decode("utf-8", "replace"))
    close = re.sub(r"[\0-\x20]", "", text)  # browsers overlook these in an address
    acts = _ACTIVE_SVG.search(text) or _SCRIPT_ADDRESS.search(close)
    return "holds a script or loads something" if acts else None
