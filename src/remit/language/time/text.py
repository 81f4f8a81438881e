"""A stretch of tokens in one language in which times are searched."""

from msgspec import Struct, field

from remit.language.time.words import TimeWords
from remit.language.tokens import Token, TokenKind


class TimeText(Struct, frozen=True, eq=False):
    """Tokens and the words of their language; `recurs` says that something in it comes back."""

    tokens: tuple[Token, ...]
    keys: tuple[str, ...]
    words: TimeWords
    recurs: bool = False
    read: dict[int, object] = field(default_factory=dict)

    def is_word(self, at: int) -> bool:
        return at < len(self.tokens) and self.tokens[at].kind is TokenKind.WORD

    def number(self, at: int, most: int = 6) -> int | None:
        """Read digits at a place; a longer run is a number of something else."""
        if at >= len(self.tokens) or self.tokens[at].kind is not TokenKind.NUMBER:
            return None
        text = self.tokens[at].text
        return int(text) if len(text) <= most else None

    def is_tight(self, at: int, key: str) -> bool:
        """Whether this very token follows the one before it without a gap."""
        return at < len(self.keys) and self.keys[at] == key and self.tokens[at].tight
