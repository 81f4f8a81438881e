"""A string that never appears by accident in a repr, an error or a log."""

from typing import Final

_ENOUGH: Final = 8  # this many characters of a key in a row would reveal it
_SHOWN: Final = "…"


class Secret:
    """Reveals itself only on an explicit call."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def scrub(self, text: str) -> str:
        """Remove the secret, and every longer piece of it, from a text."""
        text = text.replace(self._text, _SHOWN) if self._text else text
        for start in range(len(self._text) - _ENOUGH + 1):
            text = text.replace(self._text[start : start + _ENOUGH], _SHOWN)
        return text

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> str:
        raise TypeError("A secret is not stored.")
