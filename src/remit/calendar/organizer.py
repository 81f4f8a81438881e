"""Finds who organises a calendar resource. Anything ambiguous counts as a stranger's.

An address is accepted only if every event of the resource names it exactly once, in a clean form:
closed quotes, a bare `mailto:` with ASCII letters, and no SENT-BY.
"""

import re
import unicodedata
from typing import Final

_FOLD: Final = re.compile(r"\r?\n[ \t]")
_VALUE: Final = r'(?:"[^"\x00-\x1f\x7f]*"|[^";:,\x00-\x1f\x7f]*)'
_PARAMETER: Final = rf";([A-Za-z0-9-]+)=({_VALUE}(?:,{_VALUE})*)"
_PARAMETERS: Final = re.compile(_PARAMETER)
_ANY_CASE: Final = re.IGNORECASE | re.ASCII  # without ASCII a Kelvin sign would match k
_CLEAN: Final = re.compile(rf"(ORGANIZER|ATTENDEE)((?:{_PARAMETER})*):(.+)", _ANY_CASE)
_ADDRESS: Final = re.compile(r"mailto:([a-z0-9.!#$&'*+/=^_`{|}~-]+@[a-z0-9.-]+)", _ANY_CASE)
_COMPONENTS: Final = frozenset({"begin:vevent", "begin:vtodo", "begin:vjournal"})
_PEOPLE: Final = ("organizer", "attendee")
_UNSEEN: Final = dict.fromkeys((*range(33), 127, *range(128, 161), 0x2028, 0x2029))
_MAX_CHARACTERS: Final = 4_000_000
_NOBODY: Final = ""


def organizer(body: str) -> str | None:
    """Return the address that organises a whole resource, in lower case.

    Empty if the resource has no organiser; None if that is not certain.
    """
    if len(body) > _MAX_CHARACTERS:
        return None
    by_component: list[list[str | None]] = [[]]  # the first holds what comes before any event
    for raw in _FOLD.sub("", body).split("\n"):
        line = raw.removesuffix("\r")
        name = _bare_name(line)
        if _hides_a_line(line):
            return None
        if name in _COMPONENTS:
            by_component.append([])
        elif name.startswith("organizer"):
            by_component[-1].append(_address(line))
        elif name.startswith("attendee") and _CLEAN.fullmatch(line) is None:
            return None
    outside, *components = by_component
    if not any(by_component):
        return _NOBODY
    found = {address for each in components for address in each}
    alone = not outside and len(found) == 1 and all(len(each) == 1 for each in components)
    return found.pop() if alone else None


def _hides_a_line(line: str) -> bool:
    """Whether some readers see an organiser within a line and others do not."""
    parts = line.splitlines()
    return len(parts) > 1 and any(_bare_name(each).startswith(_PEOPLE) for each in (line, *parts))


def _bare_name(line: str) -> str:
    """Return how a line begins for a reader that ignores invisible characters."""
    head = line[:200]
    if not head.isascii():
        head = unicodedata.normalize("NFKC", head)
        head = "".join(char for char in head if unicodedata.category(char) not in ("Cf", "Mn"))
    return head.translate(_UNSEEN).casefold()[:40]


def _address(line: str) -> str | None:
    """Return the address of an ORGANIZER line; None if anything in it is doubtful."""
    found = _CLEAN.fullmatch(line)
    address = _ADDRESS.fullmatch(found[found.lastindex or 0]) if found else None
    if found is None or address is None:
        return None
    said = address[1].lower()
    for name, value in _PARAMETERS.findall(found[2]):
        acts_for = name.upper() == "SENT-BY"
        other = name.upper() == "EMAIL" and value.strip('"').lower() != said
        if acts_for or other:
            return None
    return said
