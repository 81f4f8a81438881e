"""Inserts a lesson into its file, leaving all other lines unchanged."""

import difflib
import hashlib
import re
from collections.abc import Collection
from typing import Final

from remit.errors import BadInput
from remit.model.likeness import Lesson, LessonFile

_RULES: Final = re.compile(r"(?m)^rules:[ \t]*(\[[ \t]*\])?[ \t]*(#[^\r\n]*)?\r?$")
_FIRST: Final = re.compile(r"(?m)^([ \t]*)- ")
_NAME: Final = re.compile(r"(?m)^[ \t]*(?:- )?name:[ \t]*[\"']?(.+?)[\"']?[ \t]*$")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def worked_in(lesson: Lesson, text: str) -> str:
    """Return the whole new text of the file; raise if it cannot take the lesson."""
    if lesson.file is LessonFile.GUIDELINES:
        return _with_line(lesson, text)
    return _with_rule(lesson, text)


def diff(before: str, after: str, file: str) -> str:
    """Return the change as a unified diff."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{file}", f"b/{file}"
    )
    text = "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
    return f"diff --git a/{file} b/{file}\n{text}"


def added(shown: str) -> str:
    """Return the words that a diff adds."""
    new = [line[1:] for line in shown.splitlines() if line[:1] == "+" and line[:3] != "+++"]
    return " ".join(" ".join(new).split())


def alike(one: str, other: str) -> bool:
    """Whether two texts say nearly the same: most words are equal."""
    ours, theirs = set(_plain(one)), set(_plain(other))
    together = ours | theirs
    return bool(together) and len(ours & theirs) / len(together) >= _ALIKE


_ALIKE: Final = 0.7


def _plain(text: str) -> Collection[str]:
    return re.findall(r"\w+", text.casefold())


def _with_line(lesson: Lesson, text: str) -> str:
    active = [line for line in text.splitlines() if not line.startswith("#")]
    if any(alike(lesson.text, line) for line in active):
        raise BadInput(f"{lesson.file.value} says that already, or nearly that.")
    gap = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{gap}{lesson.text.strip()}\n"


def _with_rule(lesson: Lesson, text: str) -> str:
    """Insert the rule first: the first match decides, and it is the newest."""
    if re.search(
        rf"(?m)^[^#\n]*\bwhen:\s*[\"']?{re.escape(lesson.when)}[\"']?\s*(?:[,}}]|$)", text
    ):
        raise BadInput(f"{lesson.file.value} has a rule with that condition already.")
    found = _RULES.search(text)
    if found is None:
        raise BadInput(f"{lesson.file.value} has no line that says rules: and nothing else.")
    after = text[found.end() :]
    first = _FIRST.search(after)
    indent = first[1] if first and not found[1] else "  "
    name = _unused(lesson.text, _NAME.findall(text))
    level = lesson.priority.value if lesson.priority else ""
    because = f"learned on {lesson.on}; {lesson.why.rstrip('.')}"
    rule = (
        f"{indent}- name: {name}\n"
        f"{indent}  when: {lesson.when}\n"
        f"{indent}  priority: {level}\n"
        f"{indent}  because: {_quoted(because)}\n"
    )
    remark = f" {found[2]}" if found[2] else ""
    whole = f"{text[: found.start()]}rules:{remark}\n{rule}{after}"
    return whole.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in text else whole


def _unused(name: str, known: Collection[str]) -> str:
    taken = {each.casefold() for each in known}
    plain, n = name, 1
    while name.casefold() in taken:
        n += 1
        name = f"{plain}-{n}"
    return name


def _quoted(text: str) -> str:
    plain = text.replace("\\", "").replace('"', "'")
    return f'"{plain}"'
