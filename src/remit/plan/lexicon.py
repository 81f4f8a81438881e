"""The words that tell work on code from advice and from mere text, read from `lexicon.toml`."""

from collections.abc import Mapping
from typing import Final, cast

from remit.language.files import read_toml


def _load() -> Mapping[str, frozenset[str]]:
    tables = cast("dict[str, dict[str, str]]", read_toml("lexicon", "remit.plan"))
    doubled = frozenset(tables.pop("doubled")["words"].split())
    words = {
        name: frozenset(table.get("words", "").split()).union(
            *(_forms(verb, doubled) for verb in table.get("forms", "").split())
        )
        for name, table in tables.items()
    }
    words["changes"] = words["edits"] | words["builds"]
    kinds = ("advises", "writes", "maybe", "changes", "takes")
    return words | {"verbs": frozenset().union(*(words[kind] for kind in kinds))}


def _forms(verb: str, doubled: frozenset[str]) -> tuple[str, ...]:
    """An English verb with its endings: plan, plans, planned, planning."""
    if verb.endswith("e"):
        return verb, f"{verb}s", f"{verb}d", f"{verb[:-1]}ing"
    if verb.endswith("y") and verb[-2] not in "aeou":
        return verb, f"{verb[:-1]}ies", f"{verb[:-1]}ied", f"{verb}ing"
    if verb in doubled:
        return verb, f"{verb}s", f"{verb}{verb[-1]}ed", f"{verb}{verb[-1]}ing"
    plural = "es" if verb.endswith(("s", "x", "ch", "sh")) else "s"
    return verb, f"{verb}{plural}", f"{verb}ed", f"{verb}ing"


LEXICON: Final = _load()
