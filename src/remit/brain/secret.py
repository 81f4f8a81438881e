"""A string that never appears by accident in a repr, an error or a log."""

from typing import Final

_MIN_TELLING_CHARACTERS: Final = 8  # so many characters of a key in a row are as good as told
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
        for start in range(len(self._text) - _MIN_TELLING_CHARACTERS + 1):
            text = text.replace(self._text[start : start + _MIN_TELLING_CHARACTERS], _SHOWN)
        return text

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> str:
        raise TypeError("A secret is not stored.")
