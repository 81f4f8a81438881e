"""Renders text from others as safe HTML: Markdown, a WhatsApp bubble, and a comparison.

No text can become code. Markdown goes through the sanitiser that mails use, which fetches nothing
and shows a picture as a link; everything else is escaped first.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

import nh3
from markupsafe import Markup, escape
from msgspec import Struct

from remit.channels.mail import letter

_BLOCKS: Final = {"p", "ul", "ol", "li", "blockquote", "pre", "hr", "div", "br"}
_TABLES: Final = {"table", "thead", "tbody", "tr", "th", "td"}
_TAGS: Final = (
    {"h1", "h2", "h3", "h4", "h5", "h6", "a", "code", "s", "strong", "em"} | _BLOCKS | _TABLES
)
# A letter has its styles on the tags; our pages may not, so they are removed again.
_CLEANER: Final = nh3.Cleaner(
    tags=_TAGS,
    attributes={"a": {"href"}, "ol": {"start"}, "th": {"align"}, "td": {"align"}, "*": {"dir"}},
    url_schemes={"http", "https", "mailto"},
    url_relative="deny",
    link_rel="noopener noreferrer nofollow",
    set_tag_attribute_values={"a": {"target": "_blank"}, "pre": {"tabindex": "0"}},
)
_HEADS: Final = re.compile(r"(</?)h([1-6])\b")
_FIRST: Final = 3  # a page has its own headings above those of a text
_LAST: Final = 6
_MOST_WORDS: Final = 1500  # beyond that, lines are compared: matching words takes quadratic time
_MAX_LINES: Final = 1500  # beyond that, everything between the ends is one change
_WORDS: Final = re.compile(r"\w+(?:[:.,'’/-]\w+)*|\s+|[^\w\s]")
_LINES: Final = re.compile(r"[^\n]*\n|[^\n]+")
_KEPT: Final = re.compile(r"\x00(\d+)\x00")
# A WhatsApp mark is at the edge of a word, on one line, around something.
_MARKS: Final = (
    (re.compile(r"```(.+?)```", re.DOTALL), "code"),
    (re.compile(r"(?<![\w`])`([^`\n]+)`(?![\w`])"), "code"),
    (re.compile(r"(?<![\w*])\*(?![\s*])([^*\n]*[^\s*])\*(?![\w*])"), "b"),
    (re.compile(r"(?<![\w_])_(?![\s_])([^_\n]*[^\s_])_(?![\w_])"), "i"),
    (re.compile(r"(?<![\w~])~(?![\s~])([^~\n]*[^\s~])~(?![\w~])"), "s"),
)


class TextChanges(Struct, frozen=True):
    """What an edit changed, as HTML, and in how many places."""

    html: Markup
    count: int


def markdown(text: str) -> Markup:
    """Return Markdown as our own list of tags, without styles, pictures or scripts."""
    clean = _CLEANER.clean(letter.fragment(text))
    lowered = _HEADS.sub(lambda found: f"{found[1]}h{_lower(int(found[2]))}", clean)
    return Markup(lowered)  # noqa: S704 - what the sanitiser leaves is ours


def code(text: str) -> Markup:
    """Return a sentence with `commands` drawn as code."""
    shown = _MARKS[1][0].sub(r"<code>\1</code>", str(escape(text)))
    return Markup(shown)  # noqa: S704 - escaped above, and the tags are ours


def whatsapp(text: str) -> Markup:
    """Return a message as WhatsApp shows it: *bold*, _italic_, ~struck~ and `code`."""
    shown, kept = str(escape(text.replace("\x00", ""))), list[str]()
    for shape, tag in _MARKS:
        if tag == "code":
            # Code is not parsed further; a character that no text may contain holds its place.
            shown = shape.sub(lambda found: _keep(kept, found[1]), shown)
        else:
            shown = shape.sub(rf"<{tag}>\1</{tag}>", shown)
    while "\x00" in shown:  # code may be nested once
        shown = _KEPT.sub(lambda found: f"<code>{kept[int(found[1])]}</code>", shown)
    return Markup(shown)  # noqa: S704 - escaped above, and the tags are ours


def changes(before: str, after: str) -> TextChanges:
    """Return the removed and the added words."""
    found: list[Markup] = []
    count = 0
    for same, gone, come in _runs(*_pieces(before, after)):
        if same:
            found.append(escape(gone))
            continue
        count += 1
        found += [Markup("<del>{}</del>").format(gone)] if gone else []
        found += [Markup("<ins>{}</ins>").format(come)] if come else []
    return TextChanges(Markup("").join(found), count)


def _lower(level: int) -> int:
    return min(level + _FIRST - 1, _LAST)


def _keep(kept: list[str], code: str) -> str:
    kept.append(code)
    return f"\x00{len(kept) - 1}\x00"


def _pieces(before: str, after: str) -> tuple[Sequence[str], Sequence[str]]:
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if max(len(old), len(new)) > _MOST_WORDS:
        return _LINES.findall(before), _LINES.findall(after)
    return old, new


def _compare_stretches(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[bool, str, str]]:
    """Yield equal and different stretches; matching is cubic in the worst case.

    So equal ends are skipped, frequent words start no match, and a middle that is too long is one
    change.
    """
    least = min(len(old), len(new))
    head = next((n for n in range(least) if old[n] != new[n]), least)
    rest = range(least - head)
    tail = next((n for n in rest if old[-1 - n] != new[-1 - n]), least - head)
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    if head:
        yield True, "".join(old[:head]), "".join(new[:head])
    if max(len(a), len(b)) > _MAX_LINES:
        yield False, "".join(a), "".join(b)
    else:
        for what, i, j, m, n in SequenceMatcher(None, a, b).get_opcodes():
            yield what == "equal", "".join(a[i:j]), "".join(b[m:n])
    if tail:
        yield True, "".join(old[len(old) - tail :]), "".join(new[len(new) - tail :])


def _runs(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[bool, str, str]]:
    """Yield what stayed and what changed; two changes with a blank between them are one."""
    gone = come = between = ""
    for is_same, was, now in _compare_stretches(old, new):
        if not is_same:
            gone, come, between = gone + between + was, come + between + now, ""
        elif (gone or come) and not any(map(str.isalnum, was)) and "\n" not in was:
            between = was
        else:
            if gone or come:
                yield False, gone, come
            yield True, between + was, between + now
            gone = come = between = ""
    if gone or come:
        yield False, gone, come
    if between:
        yield True, between, between


MOST_LINES: Final = 3_000  # of all files; the folder has the rest
MOST_OF_FILE: Final = 800
LONGEST: Final = 400  # characters of a line
_FILE: Final = re.compile(r'diff --git "?a/(.*?)"? "?b/(.*?)"?')
_HUNK: Final = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_KINDS: Final = {"+": "ins", "-": "del"}
_PATCH_HEADS: Final = (
    ("new file", "new"),
    ("deleted file", "deleted"),
    ("rename from", "renamed"),
    ("Binary files", "binary"),
    ("GIT binary patch", "binary"),
)


class PatchLine(Struct, frozen=True):
    kind: str  # ins, del, hunk or same
    text: str


class PatchFile(Struct, frozen=True):
    """The changes of one file; `left` is how many lines are not shown."""

    path: str
    lines: tuple[PatchLine, ...]
    added: int
    removed: int
    word: str = ""  # new, deleted, renamed, binary
    left: int = 0


class PatchView(Struct, frozen=True):
    files: tuple[PatchFile, ...]
    cut: bool  # whether more was changed than is shown

    @property
    def added(self) -> int:
        return sum(each.added for each in self.files)

    @property
    def removed(self) -> int:
        return sum(each.removed for each in self.files)


def read_patch(text: str) -> PatchView | None:
    """Return the files of a diff; None if it is none."""
    parts = list(_parts(text))
    if not parts:
        return None
    files, room, broken = list[PatchFile](), MOST_LINES, False
    for part in parts:
        made, whole = _file(part, min(room, MOST_OF_FILE))
        files.append(made)
        room, broken = room - len(made.lines), broken or not whole
    return PatchView(tuple(files), broken or any(each.left for each in files))


def _parts(text: str) -> Iterator[list[str]]:
    """Yield the lines of each file: a hunk's line never begins with a letter."""
    part = list[str]()
    for line in text.split("\n"):
        if line.startswith("diff --git "):
            if part:
                yield part
            part = [line]
        elif part:
            part.append(line)
    if part:
        yield part


def _file(part: list[str], room: int) -> tuple[PatchFile, bool]:
    """Return one file, and whether its last hunk is complete."""
    named, word = _FILE.fullmatch(part[0]), ""
    path = named[2] if named else part[0].removeprefix("diff --git ")
    lines, old, new = list[PatchLine](), 0, 0
    for text in part[1:]:
        if old > 0 or new > 0:
            kind = _KINDS.get(text[:1], "same")
            old -= kind != "ins" and not text.startswith("\\")
            new -= kind != "del" and not text.startswith("\\")
            lines.append(PatchLine(kind, _short(text[1:] if not text.startswith("\\") else text)))
        elif hunk := _HUNK.match(text):
            old, new = int(hunk[1] or 1), int(hunk[2] or 1)
            lines.append(PatchLine("hunk", _short(text)))
        elif not lines:
            word = next((prefix for head, prefix in _PATCH_HEADS if text.startswith(head)), word)
    added = sum(each.kind == "ins" for each in lines)
    removed = sum(each.kind == "del" for each in lines)
    left = max(0, len(lines) - room)
    return PatchFile(path, tuple(lines[:room]), added, removed, word, left), old <= 0 and new <= 0


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
