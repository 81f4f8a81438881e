"""An answer that is kept and shown, and that no gate lets out.

What was cut off, or refused, is no deliverable even if it holds one between whole tags. So its
tags are defused here, and its first line says why. Without tags, every gate holds it.
"""

import re
from typing import Final

_TAG: Final = re.compile(r"<(?=\s*/?\s*deliverable)|(?<=deliverable)(\s*)>", re.IGNORECASE)


def hold(text: str, why: str) -> str:
    """The same text, marked and defused."""
    return f"[Held: {why}]\n\n{_TAG.sub(_defused, text)}".rstrip()


def _defused(found: re.Match[str]) -> str:
    return "⟨" if found[0] == "<" else f"{found[1]}⟩"
