"""Works a lesson into its file, and keeps the versions of such files: written atomically, reverted.

A change is journalled before its file is touched, as a send is claimed before its first byte. So it
is repeated after a crash, and every change is on record.
"""

import difflib
import hashlib
import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from remit.errors import BadInput, Conflict
from remit.model.likeness import FileVersion, Lesson, LessonFile, changes_in_force
from remit.ports import Clock
from remit.store import reflections
from remit.store.database import Database
from remit.store.reflections import LessonChange
from remit.system.files import write_atomic

_RULES: Final = re.compile(r"(?m)^rules:[ \t]*(\[[ \t]*\])?[ \t]*(#[^\r\n]*)?\r?$")
_FIRST: Final = re.compile(r"(?m)^([ \t]*)- ")
_NAME: Final = re.compile(r"(?m)^[ \t]*(?:- )?name:[ \t]*[\"']?(.+?)[\"']?[ \t]*$")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def insert_lesson(lesson: Lesson, text: str) -> str:
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


def added_words(shown: str) -> str:
    """Return the words that a diff adds."""
    new = [line[1:] for line in shown.splitlines() if line[:1] == "+" and line[:3] != "+++"]
    return " ".join(" ".join(new).split())


def are_alike(one: str, other: str) -> bool:
    """Whether two texts say nearly the same: most words are equal."""
    ours, theirs = set(_plain(one)), set(_plain(other))
    together = ours | theirs
    return bool(together) and len(ours & theirs) / len(together) >= _ALIKE


_ALIKE: Final = 0.7


def _plain(text: str) -> Collection[str]:
    return re.findall(r"\w+", text.casefold())


def _with_line(lesson: Lesson, text: str) -> str:
    active = [line for line in text.splitlines() if not line.startswith("#")]
    if any(are_alike(lesson.text, line) for line in active):
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
    name = _unused_name(lesson.text, _NAME.findall(text))
    level = lesson.priority.value if lesson.priority else ""
    because = f"learned on {lesson.on}; {lesson.why.rstrip('.')}"
    because = because.replace("\\", "").replace('"', "'")
    rule = (
        f"{indent}- name: {name}\n"
        f"{indent}  when: {lesson.when}\n"
        f"{indent}  priority: {level}\n"
        f'{indent}  because: "{because}"\n'
    )
    remark = f" {found[2]}" if found[2] else ""
    whole = f"{text[: found.start()]}rules:{remark}\n{rule}{after}"
    return whole.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in text else whole


def _unused_name(name: str, known: Collection[str]) -> str:
    taken = {each.casefold() for each in known}
    plain, n = name, 1
    while name.casefold() in taken:
        n += 1
        name = f"{plain}-{n}"
    return name


FOLDER: Final = "rules/versions"
MAX_CHARACTERS: Final = 512_000  # characters of a file
_NAMES: Final = {LessonFile.GUIDELINES: "guidelines.txt", LessonFile.RULES: "priority.yml"}


class LessonVersions:
    """`default` returns the content of a missing file."""

    def __init__(
        self, home: Path, db: Database, clock: Clock, default: Callable[[LessonFile], str]
    ) -> None:
        self._home = home
        self._db = db
        self._clock = clock
        self._default = default

    def text(self, file: LessonFile) -> str:
        """Return what a file says now."""
        try:
            # As bytes: a file with other line ends is returned unchanged.
            found = (self._home / file.value).read_bytes().decode("utf-8")
        except FileNotFoundError:
            return self._default(file)
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"{file.value} cannot be read ({error}).") from None
        if len(found) > MAX_CHARACTERS:
            raise BadInput(
                f"{file.value} is too long; at most {MAX_CHARACTERS:,} letters are read."
            )
        return found

    async def change(self, lesson: LessonChange, text: str) -> None:
        """Store both texts, record the change, and write the new text."""
        self._keep(lesson.file, self.text(lesson.file))
        self._keep(lesson.file, text)
        await self._db.write(reflections.change, lesson, self._clock.now())
        _replace(self._home / lesson.file.value, text)

    async def history(self) -> tuple[FileVersion, ...]:
        """Return every change, oldest first."""
        return await self._db.read(reflections.versions)

    async def revert(self, key: str, no: int | None = None, *, force: bool = False) -> FileVersion:
        """Revert a change: the latest in force, or a named one.

        Later manual edits would be lost, so that needs `force`.
        """
        known = await self.history()
        wanted = _version_to_revert(known, no)
        now, before = digest(self.text(wanted.file)), self.read_earlier(wanted.file, wanted.was)
        latest = next(each for each in reversed(known) if each.file is wanted.file)
        last = [each for each in changes_in_force(known) if each.file is wanted.file][-1]
        if not force and (now != latest.digest or last.no != wanted.no):
            sentence = f"{wanted.file.value} was changed since change {wanted.no}; to put back the"
            raise Conflict(f"{sentence} text before it all the same, say --force.")
        why = f"change {wanted.no} was taken back"
        lesson = LessonChange(
            key=key,
            file=wanted.file,
            was=now,
            digest=wanted.was,
            why=why,
            by="owner",
            reverts=wanted.no,
        )
        await self.change(lesson, before)
        return (await self.history())[-1]

    def read_earlier(self, file: LessonFile, wanted: str) -> str:
        """Return an earlier text of a file; a modified one is refused."""
        path = self._place(file, wanted)
        try:
            text = path.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError):
            sentence = f"{FOLDER}/{path.name} cannot be read; nothing was changed."
            raise Conflict(sentence) from None
        if digest(text) != wanted:
            sentence = f"{FOLDER}/{path.name} is not as it was kept; nothing was changed."
            raise Conflict(sentence)
        return text

    def _keep(self, file: LessonFile, text: str) -> None:
        path = self._place(file, digest(text))
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            _replace(path, text)

    def _place(self, file: LessonFile, wanted: str) -> Path:
        return self._home / FOLDER / f"{wanted[:16]}-{_NAMES[file]}"


def _version_to_revert(known: tuple[FileVersion, ...], no: int | None) -> FileVersion:
    holding = changes_in_force(known)
    if no is None:
        if not holding:
            raise Conflict("Nothing is to be taken back: no change of the rules holds.")
        return holding[-1]
    found = next((each for each in holding if each.no == no), None)
    if found is None:
        raise Conflict(f"There is no change {no} that holds; `remit rules history` lists them.")
    return found


def _replace(path: Path, text: str) -> None:
    """Write a text atomically; a link is followed."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_atomic(path, text)
