"""Opens the owner's editor on a text that is to be sent."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from remit.errors import BadInput

_SCISSORS: Final = "------------------------ >8 ------------------------"


def edited(text: str, about: str) -> str:
    """Open $VISUAL or $EDITOR; return what is above the marker line afterwards."""
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    with tempfile.TemporaryDirectory(prefix="remit-") as folder:
        path = Path(folder) / "text.md"
        path.write_text(f"{text}\n{_SCISSORS}\nAbove this line: {about}\n", encoding="utf-8")
        try:
            subprocess.run([*command, str(path)], check=True)  # noqa: S603 - the owner's own choice
        except (OSError, subprocess.CalledProcessError) as error:
            raise BadInput(f"The editor {command[0]!r} did not end well: {error}") from None
        kept, _, _ = path.read_text(encoding="utf-8").partition(_SCISSORS)
    if not kept.strip():
        raise BadInput("The text is empty; nothing was decided.", field="text")
    if kept.strip() == text.strip():
        raise BadInput("The text was not changed; nothing was decided.", field="text")
    return kept.strip()
