"""Keeps the bytes of files by their hash: written once, durably, before anything refers to them."""

import hashlib
import os
import re
from collections.abc import Collection
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from remit.errors import BadInput
from remit.files import checks
from remit.model.task_file import TaskFile
from remit.system.files import READ, open_below, write_atomic

GRACE: Final = timedelta(days=1)  # in which something may still refer to a file that came in
_HASH: Final = re.compile(r"[0-9a-f]{64}")


class KeptFiles:
    """The folder of all files, each named by the hash of its content. Its methods block."""

    def __init__(self, folder: Path) -> None:
        self.folder: Final = folder

    def keep(
        self, name: str, content: bytes, *, taint: str = "owner", made: bool = False
    ) -> TaskFile:
        """Store a content durably; the same content twice is stored once."""
        if len(content) > checks.MAX_BYTES:
            sentence = (
                f"{name!a:.80} has {len(content):,} bytes; at most {checks.MAX_BYTES:,} are kept."
            )
            raise BadInput(sentence, field="file")
        digest = hashlib.sha256(content).hexdigest()
        self._copy(digest, content)
        return TaskFile(name, checks.detect(name, content), len(content), digest, made, taint)

    def keep_incoming(self, name: str, content: bytes, taint: str) -> TaskFile:
        """Store a file that came in, under a name that leads nowhere."""
        return self.keep(checks.safe_name(name), content, taint=taint)

    def read(self, digest: str) -> bytes | None:
        """Return a content, if it is there and unchanged."""
        return self.near(digest)

    def _copy(self, digest: str, content: bytes) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self.near(digest) is None:
            write_atomic(self.folder / digest, content)
        else:
            os.utime(self.folder / digest)  # it is in use again

    def near(self, digest: str) -> bytes | None:
        """Return a content from the folder of this machine."""
        if not _HASH.fullmatch(digest):
            return None
        try:
            with (
                open_below(self.folder, (digest,), READ) as opened,
                os.fdopen(opened, "rb", closefd=False) as file,
            ):
                content = file.read(checks.MAX_BYTES + 1)
        except OSError:
            return None
        return content if hashlib.sha256(content).hexdigest() == digest else None

    def room(self) -> tuple[int, int]:
        """Return how many files there are, and how many bytes they take."""
        sizes = [each.stat().st_size for each in self._list_files()]
        return len(sizes), sum(sizes)

    def sweep(self, needed: Collection[str], gone: Collection[str], now: datetime) -> int:
        """Remove the files of deleted tasks, and what nothing refers to; return how many."""
        oldest, count = (now - GRACE).timestamp(), 0
        for path in self._list_files():
            if path.name in needed:
                continue
            if path.name in gone or path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)
                count += 1
        return count

    def digests(self) -> list[str]:
        """Return the hashes of what is in the folder of this machine."""
        return [each.name for each in self._list_files()]

    def _list_files(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return [each for each in self.folder.iterdir() if _HASH.fullmatch(each.name)]
