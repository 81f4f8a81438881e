"""Adds, changes or removes one entry of `contacts.yaml`; all other lines stay as they are.

The result is parsed before it replaces the file: it must hold the change, and every other contact
unchanged.
"""

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from msgspec.structs import replace

from remit.contacts.book import FILE, ContactEntry, parse
from remit.errors import BadInput, NotFound, NotPossibleNow, OutOfDate, UnknownName
from remit.language.tokens import fold
from remit.model.review import ContactRule
from remit.system.files import PRIVATE, locked, write_atomic

_Span = tuple[int, int]  # lines, the last one not in it


def put(path: Path, entry: ContactEntry) -> ContactEntry:
    """Add a contact, or merge into the entry of that name. Return the resulting entry."""
    with locked(path.parent):
        raw = _read(path)
        before = parse(raw)
        old = _find_entry(before, entry.name)
        if old is None:
            _replace(path, raw, _with_entry(raw, None, entry), (*before, entry))
            return entry
        new = replace(
            old,
            aliases=tuple(dict.fromkeys((*old.aliases, *entry.aliases))),
            role=entry.role or old.role,
            lines={**old.lines, **entry.lines},
            policy={**old.policy, **entry.policy},
            quiet=old.quiet.joined(entry.quiet),
        )
        after = tuple(new if each is old else each for each in before)
        _replace(path, raw, _with_entry(raw, before.index(old), new), after)
        return new


async def put_quiet(path: Path, rule: ContactRule) -> str:
    """Write a quiet-time rule for somebody into the file; return what applies now."""

    def quieter(entry: ContactEntry) -> ContactEntry:
        return replace(entry, quiet=entry.quiet.joined(rule.quiet))

    made = await asyncio.to_thread(change, path, rule.name, quieter)
    return f"{made.name} gets nothing at these times: {', '.join(made.quiet.texts)}."


def remove_from_entry(
    entry: ContactEntry, ways: Iterable[str], aliases: Iterable[str] = ()
) -> ContactEntry:
    """Return an entry without an address or an alias."""
    gone, names = frozenset(ways), frozenset(map(fold, aliases))
    for each in sorted(gone - entry.lines.keys()):
        there = ", ".join(entry.lines) or "none"
        sentence = f"{entry.name} has no address under {each!r:.60}; there is {there}."
        raise UnknownName(sentence, field="channels")
    return replace(
        entry,
        aliases=tuple(each for each in entry.aliases if fold(each) not in names),
        lines={name: line for name, line in entry.lines.items() if name not in gone},
        policy={name: policy for name, policy in entry.policy.items() if name not in gone},
    )


def drop(path: Path, name: str, *, only_if: str | None = None) -> ContactEntry:
    return change(path, name, lambda _: None, only_if=only_if)


def change(
    path: Path,
    name: str,
    to: Callable[[ContactEntry], ContactEntry | None],
    *,
    only_if: str | None = None,
) -> ContactEntry:
    """Replace an entry, or remove it with None; return the new entry, or the removed one.

    `only_if`: only if the file still has this version.
    """
    with locked(path.parent):
        raw = _read(path)
        if only_if not in (None, hashlib.sha256(raw).hexdigest()):
            raise OutOfDate(f"{FILE} has changed since you looked at it; look again.")
        before = parse(raw)
        old = _find_entry(before, name)
        if old is None:
            raise NotFound("contact", name)
        new = to(old)
        others = [each for each in before if each is not old]
        other = None if new is None else _find_entry(others, new.name)
        if other is not None:
            raise NotPossibleNow(f"{other.name!r:.60} is in {FILE} already.", field="name")
        after = (new if each is old else each for each in before)
        wanted = tuple(each for each in after if each is not None)
        _replace(path, raw, _with_entry(raw, before.index(old), new), wanted)
        return old if new is None else new


def version(path: Path) -> str:
    """Return the version of the file: it differs if the content differs."""
    return hashlib.sha256(_read(path)).hexdigest()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _find_entry(entries: Sequence[ContactEntry], name: str) -> ContactEntry | None:
    return next((each for each in entries if fold(each.name) == fold(name)), None)


def _with_entry(raw: bytes, place: int | None, entry: ContactEntry | None) -> bytes:
    """Return the file with one entry changed, removed, or added at the end."""
    lines = raw.decode("utf-8").splitlines(keepends=True)
    column, spans = _spans(raw.decode("utf-8"))
    written = [] if entry is None else [" " * column + line for line in _entry_lines(entry)]
    if place is not None:
        first, last = spans[place]
    else:
        first = last = spans[-1][1] if spans else len(lines)
    head = lines[:first]
    if written and head and not head[-1].endswith("\n"):
        head[-1] += "\n"
    return "".join([*head, *written, *lines[last:]]).encode()


def _spans(text: str) -> tuple[int, list[_Span]]:
    """Return the indentation of the list, and the first and last line of each entry."""
    import yaml  # noqa: PLC0415 - only for changes

    top = yaml.compose(text, Loader=yaml.SafeLoader)
    if top is None:
        return 0, []
    if not isinstance(top, yaml.SequenceNode) or top.flow_style:
        raise _by_hand()
    column, lines = top.start_mark.column, text.splitlines()
    spans: list[_Span] = []
    for node in top.value:
        first = node.start_mark.line
        while lines[first][column : column + 1] != "-":  # the dash may have a line of its own
            first -= 1
        spans.append((first, _last(node) + 1))
    return column, spans


def _last(node: object) -> int:
    """Return the last line of a node; a comment after it may belong to the next one."""
    import yaml  # noqa: PLC0415 - as above

    assert isinstance(node, yaml.Node)  # noqa: S101 - composed by us
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        tail = node.value[-1]
        return _last(tail[1] if isinstance(tail, tuple) else tail)
    end = node.end_mark
    return end.line - 1 if end.column == 0 and end.line > node.start_mark.line else end.line


def _entry_lines(entry: ContactEntry) -> list[str]:
    import yaml  # noqa: PLC0415 - as above

    fields: dict[str, object] = {"name": entry.name}
    if entry.aliases:
        fields["aliases"] = list(entry.aliases)
    if entry.role:
        fields["role"] = entry.role
    if entry.lines:
        fields["channels"] = {
            name: line.address if line.id is None else {"id": line.id, "address": line.address}
            for name, line in entry.lines.items()
        }
    if entry.policy:
        fields["policy"] = {name: policy.value for name, policy in entry.policy.items()}
    if entry.quiet.texts:
        fields["quiet"] = list(entry.quiet.texts)
    text = yaml.safe_dump([fields], sort_keys=False, allow_unicode=True, width=10_000)
    return text.splitlines(keepends=True)


def _replace(path: Path, was: bytes, text: bytes, wanted: Sequence[ContactEntry]) -> None:
    """Replace the file atomically, if the new text holds what it should."""
    try:
        says = parse(text)
    except BadInput:
        raise _by_hand() from None
    if tuple(says) != tuple(wanted):
        raise _by_hand()
    if _read(path) != was:  # by an editor, which takes no lock
        raise BadInput(f"{path.name} was changed meanwhile; try again.", field="contacts")
    write_atomic(path.resolve(), text, mode=PRIVATE)


def _by_hand() -> BadInput:
    sentence = f"{FILE} is written in a way that only a person can change; edit it by hand."
    return BadInput(sentence, field="contacts")
