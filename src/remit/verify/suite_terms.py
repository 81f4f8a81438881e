"""What work is held to, how it differs from its base, and the outcome of a check."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from remit.model.contract import Result
from remit.verify import guarded, repository
from remit.verify.guarded import Contents, GuardedTests


class SuiteTerms(Struct, frozen=True):
    """What the work of one task is held to, besides its contract."""

    base: str | None = None  # the commit it began from; None: nobody else did it
    may_change: tuple[str, ...] = ()  # globs of judging files that the owner named
    also: tuple[str, ...] = ()  # more judging files
    intended: Mapping[str, str] = field(default_factory=dict)  # what the owner confirmed, by hash
    before: str | None = None  # the commit that failures are compared with, if not the base
    whole: bool = True  # whether the whole suite must run
    excuses: bool = True  # whether earlier failures may still fail


class CheckOutcome(Struct, frozen=True):
    """The outcome of a check. `ran` of `of` tests ran, if known."""

    result: Result
    error: str = ""
    note: str = ""
    ran: int | None = None
    of: int | None = None
    intended: Mapping[str, str] = field(default_factory=dict)  # what the owner could confirm
    still_failing: int = 0  # tests that failed before the work and fail still


def together(found: Sequence[CheckOutcome], lacks: Sequence[str] = ()) -> CheckOutcome:
    """Return the outcome of several commands of one activity: each must pass; `lacks`: not run.

    The worst result leads, and all messages are kept.
    """
    worst = min(
        found, key=lambda each: (Result.FAIL, Result.SKIPPED, Result.PASS).index(each.result)
    )
    errors = dict.fromkeys(each.error for each in found if each.error)
    notes = dict.fromkeys(each.note for each in found if each.note)
    left_out = (f"Not run: {why}." for why in lacks)
    return CheckOutcome(
        worst.result,
        "\n".join(errors),
        " ".join((*notes, *left_out)),
        _sum(each.ran for each in found),
        _sum(each.of for each in found),
        {name: held for each in found for name, held in each.intended.items()},
        sum(each.still_failing for each in found),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [each for each in counts if each is not None]
    return sum(known) if known else None


class ComparedWork(Struct, frozen=True):
    """A workspace, compared with its base commit."""

    folder: Path
    tree: Mapping[str, str] = field(default_factory=dict)  # the base: hashes by name
    original: Contents = field(default_factory=dict)  # the base content of each changed file
    guard: GuardedTests = field(default_factory=GuardedTests)
    is_compared: bool = False
    named: frozenset[str] = frozenset()  # changed judging files that the owner wants


def compare(workspace: Path, terms: SuiteTerms) -> ComparedWork:
    """Compare a workspace with its base, or with the commit for failures."""
    commit = terms.base or terms.before
    if commit is None:
        return ComparedWork(workspace)
    tree = repository.tree(workspace, commit)
    original = {
        name: repository.blob(workspace, tree[name]) if name in tree else None
        for name in repository.changed(workspace, tree)
    }
    if terms.base is None:
        return ComparedWork(workspace, tree, original, is_compared=True)
    guard = guarded.compare(
        workspace,
        tree,
        original,
        may_change=terms.may_change,
        also=terms.also,
        intended=terms.intended,
    )
    asked = terms.may_change or terms.intended
    named = frozenset(original) - guard.as_before.keys() if asked else frozenset[str]()
    return ComparedWork(workspace, tree, original, guard, is_compared=True, named=named)
