"""Versions of the files that lessons change: written atomically, kept, and reverted.

A change is journalled before its file is touched, as a send is claimed before its first byte. So it
is repeated after a crash, and every change is on record.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from remit.errors import BadInput, Conflict
from remit.model.likeness import FileVersion, LessonFile, standing
from remit.ports import Clock
from remit.reflect.propose import digest
from remit.store import reflections
from remit.store.database import Database
from remit.store.reflections import LessonChange
from remit.system.files import write_atomic

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
        wanted = _wanted(known, no)
        now, before = digest(self.text(wanted.file)), self.read_earlier(wanted.file, wanted.was)
        latest = next(each for each in reversed(known) if each.file is wanted.file)
        if not force and (now != latest.digest or not _is_last(known, wanted)):
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


def _wanted(known: tuple[FileVersion, ...], no: int | None) -> FileVersion:
    holding = standing(known)
    if no is None:
        if not holding:
            raise Conflict("Nothing is to be taken back: no change of the rules holds.")
        return holding[-1]
    found = next((each for each in holding if each.no == no), None)
    if found is None:
        raise Conflict(f"There is no change {no} that holds; `remit rules history` lists them.")
    return found


def _is_last(known: tuple[FileVersion, ...], wanted: FileVersion) -> bool:
    """Whether no later change of the same file is in force."""
    mine = [each for each in standing(known) if each.file is wanted.file]
    return mine[-1].no == wanted.no


def _replace(path: Path, text: str) -> None:
    """Write a text atomically; a link is followed."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_atomic(path, text)
