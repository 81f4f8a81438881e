"""A disk that loses what was not synced: SQLite writes through it, and the power can be cut."""

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

import apsw

from remit.store.database import Cell, Params, Row

Write = tuple[int, bytes | None]  # where and what; None: the file ends there


class Image:
    """One file: what is surely on disk, and what may be."""

    def __init__(self, path: Path) -> None:
        self.there = path.exists()
        self.synced = path.read_bytes() if self.there else b""
        self.pending: list[Write] = []

    def sync(self) -> None:
        self.there = True
        self.synced, self.pending = self.after(self.pending), []

    def after(self, writes: Sequence[Write]) -> bytes:
        file = bytearray(self.synced)
        for place, written in writes:
            if written is None:
                del file[place:]
            else:
                file.extend(bytes(max(0, place - len(file))))
                file[place : place + len(written)] = written
        return bytes(file)


class Disk(apsw.VFS):
    """The system's files, and a record of what was synced."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "")
        self.name = name
        self.lock = threading.Lock()
        self.images: dict[str, Image] = {}
        self.on_write: Callable[[], None] = lambda: None

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        with self.lock:
            image = self.images.setdefault(path, Image(Path(path)))
        return File(self, image, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        super().xDelete(filename, syncdir)
        with self.lock:
            self.images.pop(filename, None)

    def cut(self, dice: Random) -> dict[str, bytes]:
        """Return the files after a cut: all that was synced, and a random part of the rest."""
        with self.lock:
            return {Path(path).name: left for path, left in self._left(dice)}

    def _left(self, dice: Random) -> Iterator[tuple[str, bytes]]:
        for path, image in self.images.items():
            lucky = [write for write in image.pending if dice.random() < 0.5]
            if image.there or lucky:
                yield path, image.after(lucky)


class File(apsw.VFSFile):
    def __init__(
        self, disk: Disk, image: Image, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> None:
        self._disk = disk
        self._image = image
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        super().xWrite(data, offset)
        with self._disk.lock:
            self._image.pending.append((offset, bytes(data)))
        self._disk.on_write()

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        super().xTruncate(newsize)
        with self._disk.lock:
            self._image.pending.append((newsize, None))

    def xSync(self, flags: int) -> None:  # noqa: N802, ARG002
        # The real disk is not needed: what counts is when SQLite asked for it.
        with self._disk.lock:
            self._image.sync()


class Rows:
    def __init__(self, found: list[Row], changed: int) -> None:
        self._found = found
        self.rowcount = changed

    def fetchone(self) -> Row | None:
        return self._found[0] if self._found else None

    def fetchall(self) -> list[Row]:
        return self._found


class Connection:
    """As much of `sqlite3.Connection` as the store needs."""

    row_factory: object = None

    def __init__(self, path: Path, disk: Disk) -> None:
        flags = apsw.SQLITE_OPEN_READWRITE
        self._connection = apsw.Connection(str(path), flags=flags, vfs=disk.name)

    def execute(self, sql: str, params: Params = ()) -> Rows:
        cursor = self._connection.cursor()
        found: list[Row] = []
        for row in cursor.execute(sql, params):
            names = [column[0] for column in cursor.description]
            found.append(dict[str, Cell](zip(names, row, strict=True)))
        return Rows(found, self._connection.changes())

    @property
    def total_changes(self) -> int:
        return self._connection.total_changes()

    @property
    def in_transaction(self) -> bool:
        return not self._connection.get_autocommit()

    def close(self) -> None:
        self._connection.close()
