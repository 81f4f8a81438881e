"""What a page may weigh and hold: little script, none inline, no file that nobody asks for."""

import gzip
import re
from pathlib import Path
from typing import Final

from remit.server import static
from tests.tables import for_each

MOST_SCRIPT: Final = 25_000  # bytes by gzip, of all that is our own
TEMPLATES: Final = Path(static.__file__).parent / "templates"
PAGES: Final = sorted(TEMPLATES.rglob("*.html"))
# Each is dead under the strict policy of the pages, and would be seen only by whoever looks there.
INLINE: Final = {
    "a style attribute": re.compile(r"""\sstyle\s*=""", re.IGNORECASE),
    "a style element": re.compile(r"<style\b", re.IGNORECASE),
    "a handler": re.compile(r"""[\s"']on[a-z]+\s*=\s*["'{]""", re.IGNORECASE),
    "a script without an address": re.compile(r"<script\b(?![^>]*\ssrc=)", re.IGNORECASE),
    "a script in a link": re.compile(r"javascript:", re.IGNORECASE),
}


def test_our_own_script_stays_small() -> None:
    own = {name: file for name, file in static.files().items() if name.startswith("js/")}
    packed = {name: len(gzip.compress(file.raw, 9, mtime=0)) for name, file in own.items()}

    assert packed
    assert sum(packed.values()) <= MOST_SCRIPT, packed


def test_no_template_carries_style_or_script_of_its_own() -> None:
    found = [
        f"{path.relative_to(TEMPLATES)}:{number}: {what}"
        for path in PAGES
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        for what in _inline(line)
    ]

    assert PAGES
    assert found == []


@for_each(
    ("line", "what"),
    [
        ('<i style="width:3px">', "a style attribute"),
        ("<style>i{}</style>", "a style element"),
        ('<b onclick="go()">', "a handler"),
        ("<a onmouseover='go()'>", "a handler"),
        ("<script>go()</script>", "a script without an address"),
        ('<script type="module">', "a script without an address"),
        ('<a href="javascript:go()">', "a script in a link"),
    ],
)
def test_what_is_inline_is_seen(line: str, what: str) -> None:
    assert what in _inline(line)


@for_each(
    "line",
    [
        '<script type="module" src="{{ static(name) }}"></script>',
        '<option value="once">once</option>',
        '<b data-on="1" class="on">button = {{ x }}</b>',
    ],
)
def test_what_is_not_inline_is_let_through(line: str) -> None:
    assert _inline(line) == []


def test_every_file_for_the_browser_is_asked_for() -> None:
    texts = [path.read_text() for path in PAGES]
    texts += [file.raw.decode() for name, file in static.files().items() if _is_text(name)]
    named = "\n".join(texts)

    idle = [name for name in static.files() if not _is_named(name, named)]

    # They tell people whose work the fonts are; no page needs them.
    assert idle == ["LICENSES.md", "fonts/OFL.txt"]


def test_nothing_is_fetched_from_elsewhere() -> None:
    texts = {path.name: path.read_text() for path in PAGES}
    ours = [name for name in static.files() if name.endswith((".css", ".js", ".webmanifest"))]
    texts |= {name: static.files()[name].raw.decode() for name in ours}
    outside = [
        f"{name}: {address}"
        for name, text in texts.items()
        for address in re.findall(r"(?:https?:)?//[\w-]+\.[\w.-]+", text)
        if "www.w3.org" not in address  # the name of a language, not an address
    ]

    assert outside == []


def _inline(line: str) -> list[str]:
    return [what for what, pattern in INLINE.items() if pattern.search(line)]


def _is_text(name: str) -> bool:
    return name.endswith((".css", ".js", ".webmanifest"))


def _is_named(name: str, text: str) -> bool:
    """By its whole name, or by its last part as modules and style sheets name their neighbours."""
    return bool(re.search(rf"[\"'/(]{re.escape(name.rpartition('/')[2])}[\"')?]", text))
