"""What proof the rules ask for a set of files and their diff."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct, field

from remit.model.contract import Criterion, Timing
from remit.plan.activities import Activities, CheckDemand, EndToEnd, FileRule, UnitTests
from remit.plan.diff import Diff, says
from remit.plan.files import basename, folder, own_tests, short

MAX_OWN_TEST_FILES: Final = 25  # whose own tests are run; of more files, every test
_LETTERS: Final = 2_000_000  # of a diff that are looked at


class RequestedProof(Struct, frozen=True):
    criteria: tuple[Criterion, ...] = ()
    why: tuple[str, ...] = ()

    @property
    def wanted(self) -> bool:
        """Whether the files demand more than what always runs."""
        return bool(self.criteria)


class _Tally(Struct):
    """Everything demanded so far, and by which files."""

    own: dict[str, str] = field(default_factory=dict)  # the name of tests, and one of their files
    all: bool = False
    build: bool = False
    critics: dict[str, None] = field(default_factory=dict)
    e2e: list[tuple[EndToEnd, Sequence[str]]] = field(default_factory=list)
    why: dict[str, list[str]] = field(default_factory=dict)

    def add(self, demand: CheckDemand, title: str, paths: Sequence[str] = ()) -> None:
        self.why.setdefault(f"{title}: {demand.why}" if demand.why else title, []).extend(paths)
        self.build = self.build or demand.build
        self.critics |= dict.fromkeys(demand.critics)
        if demand.e2e:
            self.e2e.append((demand.e2e, paths))
        self.all = self.all or demand.unit is UnitTests.ALL or (bool(demand.unit) and not paths)

    def ask_own(self, paths: Iterable[str], removed: Collection[str]) -> None:
        """Demand the tests of each file; for one that is gone or unnamed, those of others."""
        for path in paths:
            if len(self.own) > MAX_OWN_TEST_FILES:  # every test runs
                return
            name = own_tests(path) if path not in removed else None
            if name is None:
                self.all = True
            else:
                self.own.setdefault(name, path)


def prove(files: Sequence[str], diff: Diff, rules: Activities) -> RequestedProof:
    """Return what these files demand: each by its rules, then the diff's phrases, then together."""
    tally = _Tally()
    code = [
        path
        for known, paths in rules.groups(files)
        if _ask(known, paths, diff, rules, tally)
        for path in paths
    ]
    _listen(code, diff, rules, tally)
    _look_across(code, rules, tally)
    return RequestedProof(tuple(_criteria(tally)), tuple(_reasons(tally)))


def _ask(
    known: Sequence[FileRule], paths: Sequence[str], diff: Diff, rules: Activities, tally: _Tally
) -> bool:
    """Apply rules to files; return whether any demands more than what always runs."""
    asked = [(rule.glob.text, rule.demand) for rule in known]
    asked = asked or [("other files", rules.defaults)]
    for title, demand in asked:
        tally.add(demand, title, paths)
    if any(demand.unit is UnitTests.OWN for _, demand in asked):
        tally.ask_own(paths, diff.removed)
    return any(demand for _, demand in asked)


def _listen(code: Sequence[str], diff: Diff, rules: Activities, tally: _Tally) -> None:
    """Search phrases in what changed, except in documents: they may mention anything."""
    lines = [line for path in ("", *code) for line in diff.lines.get(path, ())]
    text = "\n".join(lines)[:_LETTERS].casefold()
    for phrase in rules.diff.values() if text else ():
        said = next((each for each in phrase.says if says(each, text)), None)
        if said is not None:
            tally.add(phrase.demand, f"the diff says “{said}”")


def _look_across(code: Sequence[str], rules: Activities, tally: _Tally) -> None:
    cross, folders = rules.cross, {folder(path) for path in code}
    if len(folders) >= cross.directories > 0:
        tally.add(cross.spread, f"{len(folders)} directories")
    shared = rules.shared(code)
    if shared:
        tally.add(cross.shared, f"shared code ({short(shared)})")


def _criteria(tally: _Tally) -> Iterator[Criterion]:
    if tally.build:
        yield Criterion("build", "It builds")
    whole = tally.all or len(tally.own) > MAX_OWN_TEST_FILES
    if whole:
        yield Criterion("unit-test", "All tests pass")
    for name, path in tally.own.items() if len(tally.own) <= MAX_OWN_TEST_FILES else ():
        yield Criterion("unit-test", f"Tests for {basename(path)}", name)
    for critic in tally.critics:
        yield Criterion("critic", f"{critic} review", critic)
    yield from _e2e(tally.e2e)


def _e2e(asked: Sequence[tuple[EndToEnd, Sequence[str]]]) -> Iterator[Criterion]:
    """Yield one end-to-end run for all, as early as the most urgent needs it."""
    if asked:
        soon = any(when is EndToEnd.IMMEDIATE for when, _ in asked)
        named = [basename(path) for _, paths in asked for path in paths]
        what = short(named, 3) if named else "what changed"
        timing = Timing.IMMEDIATE if soon else Timing.DEFERRED
        yield Criterion("e2e", f"E2E coverage for {what}", timing=timing)


def _reasons(tally: _Tally) -> Iterable[str]:
    for title, paths in tally.why.items():
        named = [basename(path) for path in paths]
        yield f"{title} ({short(named)})" if named else title
