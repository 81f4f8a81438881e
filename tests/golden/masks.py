"""What differs between two days that are the same: ids, ports, paths, secrets and measured times.

The first ten letters of an id tell when it was made, and the clock of the day is fixed; the rest is
chance. It is replaced by a number that counts the ids of one kind and moment: `task-01KJPNHQ60~1`.
Events of one moment have no order of their own, so their numbers in the journal are masked, too.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from remit import __version__

_ID: Final = re.compile(
    r"(?<![0-9A-Z])(01[0-9A-HJKMNP-TV-Z]{8})([0-9A-HJKMNP-TV-Z]{1,16})(?![0-9A-Z])"
)
_WHOLE: Final = re.compile(r"([a-z]*)[-:]?(01[0-9A-Z]{8})([0-9A-Z]{16})(?![0-9A-Z])")
_CHANGING: Final = (
    (re.compile(r"remit-[0-9a-f]{8,}\.localhost"), "remit-LABEL.localhost"),
    (re.compile(r"(127\.0\.0\.1|localhost):(?!9\b)[0-9]{4,5}\b"), r"\1:PORT"),
    (re.compile(r"\bremit-[0-9]{4,5}="), "remit-PORT="),
    (re.compile(r"\bTest message [0-9A-Z]{4}\b"), "Test message MARK"),
    (re.compile(r"(?<=publicKey\": \")[\w-]{87}"), "KEY"),
    (re.compile(r"\bremit_[A-Za-z0-9_-]{40,}"), "remit_SECRET"),
    (re.compile(r"\bwhsec_[A-Za-z0-9+/=]{30,}"), "whsec_SECRET"),
    (re.compile(r"\b(code=|remit-PORT=)[A-Za-z0-9_-]{20,}"), r"\1SECRET"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "SHA256"),
    (re.compile(r"\b[0-9a-f]{40}\b"), "COMMIT"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "RANDOM"),
    (re.compile(r"(?<=:)[0-9a-f]{16}(?=\")"), "DIGEST"),
    (re.compile(r"(?<![\w=/-])[A-Za-z0-9_-]{43}(?![\w=-])|(?<=feed/)[A-Za-z0-9_-]{43}"), "SECRET"),
    (re.compile(r"data-seq=\"[0-9]+\""), 'data-seq="N"'),
    (re.compile(r"(\"seq\": ?)[0-9]+"), r"\1N"),
    (re.compile(r"\b[0-9]+\.[0-9] (MB|GB)\b"), r"N \1"),
    (re.compile(r"\b[0-9.]+(?=, PYTHON)"), "VERSION"),
    (re.compile(r"(?<=\"said\": \")[0-9]+(\.[0-9]+)+(?=\")"), "VERSION"),
    (re.compile(r"\b[0-9]+\.[0-9] s\b"), "N s"),
    (re.compile(r"(sqlite +)[0-9.]+"), r"\1VERSION"),
    (re.compile(r"\(process [0-9]+\)"), "(process N)"),
    (re.compile(r"\bschema [0-9]+"), "schema N"),
    (re.compile(r"(?<= )/\S+/sh\b"), "/bin/sh"),
    (re.compile(rf"(?<![0-9.]){re.escape(__version__)}(?![0-9.])"), "VERSION"),
)


class Masks:
    """Knows every id of a recording, and the places of this machine that stand in it."""

    def __init__(self, texts: Iterable[str], places: Mapping[str, str]) -> None:
        self._places = places
        made: dict[tuple[str, str], set[str]] = {}
        for text in texts:
            for kind, moment, rest in _WHOLE.findall(text):
                made.setdefault((kind, moment), set()).add(rest)
        self._made = {
            moment + rest: n
            for (_, moment), rests in made.items()
            for n, rest in enumerate(sorted(rests), 1)
        }

    def hide(self, text: str) -> str:
        for place, name in self._places.items():
            text = text.replace(place, name)
        for changing, name in _CHANGING:
            text = changing.sub(name, text)
        return _ID.sub(self._number, text)

    def _number(self, found: "re.Match[str]") -> str:
        moment, rest = found.groups()
        fits = (n for known, n in self._made.items() if known.startswith(moment + rest))
        number = self._made.get(found[0]) or next(fits, None)
        return f"{moment}~{number}" if number else found[0]
