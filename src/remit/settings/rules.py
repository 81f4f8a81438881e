"""Finds and loads the text of the owner's priority rules; `plan` parses it."""

from importlib.resources import files as packaged
from pathlib import Path
from typing import Final

from remit.errors import BadInput
from remit.system.files import write_atomic

PRIORITY: Final = "rules/priority.yml"  # in the home, and the owner's name for it
_PACKAGED: Final = "priority.yml"


def text(path: Path, called: str, most: int) -> str | None:
    """Return a file's text, at most slightly more than `most` characters; None if missing."""
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(most + 1)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        sentence = f"{called} cannot be read ({error}); write it as text in UTF-8."
        raise BadInput(sentence, field="priority") from None


def furnish(home: Path) -> None:
    """Put the rules that come with Remit where the owner finds them; existing files stay."""
    path = home / PRIORITY
    if path.exists():
        return
    path.parent.mkdir(mode=0o700, exist_ok=True)
    told = packaged("remit.plan").joinpath(_PACKAGED).read_text(encoding="utf-8")
    write_atomic(path, told)
