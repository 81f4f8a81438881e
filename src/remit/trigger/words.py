"""Words from outside, made fit to be kept: one line for a title, a bounded text for the rest."""

from typing import Final

from remit.trigger.calendar import resource_facts

MOST_BYTES: Final = 60_000  # of what came, beside what else is known of it
_CUT: Final = "\n[The rest was left out.]"


def title(text: str, otherwise: str) -> str:
    """A text as one line that a task can be called by; the other one if nothing is left of it."""
    return (
        resource_facts.title(text)
        if resource_facts.clean(text)
        else resource_facts.title(otherwise)
    )


def bounded(text: str, most: int = MOST_BYTES) -> str:
    """A text without what no task may hold, and no longer than can be kept."""
    kept = resource_facts.clean(text.replace("\r\n", "\n").replace("\r", "\n")[: 2 * most])
    raw = kept.encode()
    if len(raw) <= most:
        return kept
    return raw[: most - len(_CUT)].decode("utf-8", "ignore").rstrip() + _CUT


def one_line(text: str, most: int = 200) -> str:
    """A short word of somebody else's: a name, an id."""
    return " ".join(resource_facts.clean(text[: 10 * most]).split())[:most]
