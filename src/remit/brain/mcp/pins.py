"""Stores the description each tool had when the owner allowed it, so that a change is noticed."""

import hashlib
import json
from pathlib import Path

from remit.model.codec import text_of
from remit.model.reply import Tool
from remit.system.files import PRIVATE, write_atomic


class ToolPins:
    """A small file; if it is unreadable, every tool counts as changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, str] | None = None
        self._broken = False

    def is_changed(self, tool: Tool) -> bool:
        """Whether its description changed; a new tool has not changed."""
        known = self._read()
        return self._broken or known.get(tool.name, digest(tool)) != digest(tool)

    def pin(self, tool: Tool) -> None:
        """Record that the owner allows it as it describes itself now. Durable before use."""
        known = self._read()
        if known.get(tool.name) == digest(tool):
            return
        self._known = known | {tool.name: digest(tool)}
        self._broken = False
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomic(self._path, json.dumps(self._known, indent=1, sort_keys=True), mode=PRIVATE)

    def _read(self) -> dict[str, str]:
        if self._known is None:
            self._known = {}
            try:
                found = json.loads(self._path.read_text(encoding="utf-8"))
                self._known = {str(name): str(was) for name, was in found.items()}
            except FileNotFoundError:
                pass
            except (OSError, ValueError, AttributeError):
                self._broken = True
        return self._known


def digest(tool: Tool) -> str:
    """Return the digest of everything a tool says about itself."""
    return hashlib.sha256(text_of([tool.name, tool.says, tool.schema]).encode()).hexdigest()
