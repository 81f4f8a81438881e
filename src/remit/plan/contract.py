"""Drafts the contract of a task before the work, and strengthens it after.

Changed files count more than words. A contract only ever becomes stronger, and text written by an
agent is not considered.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from remit.model.contract import Contract, ContractType, Criterion, GeneratedFrom, Timing
from remit.plan import words
from remit.plan.activities import Activities
from remit.plan.diff import Diff, RequestedProof, parse_diff, required_proof
from remit.plan.files import mentioned_files, normal_path, short_list
from remit.plan.words import RequestedWork, RequestReading

ORDER: Final = ("typecheck", "lint", "build", "unit-test", "critic", "e2e")
_STRENGTH: Final = (ContractType.ADVISORY, ContractType.SKIP, ContractType.VERIFIABLE)
_ALL_TESTS: Final = Criterion("unit-test", "All tests pass")
_SHOWN: Final = 200  # letters of a description


class OwedChecks(Struct, frozen=True):
    """Extra criteria because the same files failed before, and why."""

    criteria: tuple[Criterion, ...] = ()
    why: tuple[str, ...] = ()


_NOTHING: Final = OwedChecks()


class ContractRequest(Struct, frozen=True):
    """What is known of a task before the work begins."""

    description: str
    files: tuple[str, ...] = ()  # expected to change
    diff: str = ""
    written: bool = False  # whether it is a text and not code
    prd: bool = False
    prompt_for_advisory: bool = False
    proofs: tuple[Criterion, ...] = ()  # criteria of a text, from the owner's words
    owed: OwedChecks = _NOTHING  # extra checks because of earlier failures


class DraftedContract(Struct, frozen=True):
    contract: Contract
    why: tuple[str, ...]
    notice: str | None = None  # one line for the owner that needs no answer
    unsure: str | None = None  # a question that the owner must answer first


def draft_contract(request: ContractRequest, rules: Activities, now: datetime) -> DraftedContract:
    """Draft the contract; if it is unclear, ask, and assume a change."""
    diff = parse_diff(request.diff)
    given = _all_files(request.files, diff)
    if request.written and not given:
        return _contract_of_text(request, now)
    reading = words.read_request(request.description)
    named = (
        ()
        if given or reading.asks is RequestedWork.ADVICE
        else mentioned_files(request.description)
    )
    proof = required_proof(given or named, diff, rules)
    kind = _by_files(proof) if given else _by_words(reading, proof, named)
    found = () if kind is ContractType.ADVISORY else proof.why
    why = (*_reasons(reading, proof, named, kind, given=bool(given)), *found)
    contract = Contract(kind, _criteria(kind, proof, rules), _origin(request), now)
    if kind is not ContractType.ADVISORY:
        contract, why = _with_owed(contract, request.owed), (*why, *request.owed.why)
    doubt = _doubt(request, kind, reading) if not given else None
    return DraftedContract(contract, why, None if doubt else _notice(request, kind), doubt)


def reclassify(
    before: Contract,
    diff: str,
    files: Sequence[str],
    rules: Activities,
    now: datetime,
    owed: OwedChecks = _NOTHING,
) -> Contract:
    """Return the contract for the actual changes: never weaker than before."""
    parsed = parse_diff(diff)
    changed = _all_files(files, parsed)
    if not changed:
        return before
    proof = required_proof(changed, parsed, rules)
    kind = max(before.type, _by_files(proof), key=_STRENGTH.index)
    criteria = join_criteria(before.criteria, _criteria(kind, proof, rules, known=True))
    real = _with_owed(replace(before, type=kind, criteria=criteria), owed)
    return before if real == before else replace(real, generated_at=now)


def _with_owed(contract: Contract, owed: OwedChecks) -> Contract:
    """A contract with what is owed; its words stand in place of those that ask for the same."""
    if not owed.criteria:
        return contract
    criteria = join_criteria(owed.criteria, contract.criteria)
    return replace(contract, type=ContractType.VERIFIABLE, criteria=criteria)


def join_criteria(before: Iterable[Criterion], more: Iterable[Criterion]) -> tuple[Criterion, ...]:
    """Return both lists in the order of checking; a covered criterion is dropped."""
    chosen: list[Criterion] = []
    for each in (*before, *more):
        if not any(covers(other, each) for other in chosen):
            chosen = [*(other for other in chosen if not covers(each, other)), each]
    last = len(ORDER)
    places = {activity: place for place, activity in enumerate(ORDER)}
    return tuple(sorted(chosen, key=lambda each: places.get(each.activity, last)))


def covers(one: Criterion, other: Criterion) -> bool:
    """Whether passing one makes the other unnecessary."""
    same = (one.activity, one.pattern) == (other.activity, other.pattern)
    soon = one.timing is Timing.IMMEDIATE or one.timing is other.timing
    by_code = one.activity in ORDER and (one.activity != "critic" or one.pattern is not None)
    return same and soon and (by_code or one.description == other.description)


def _all_files(files: Sequence[str], diff: Diff) -> tuple[str, ...]:
    named = (normal_path(each) for each in files if each.strip())
    return tuple(dict.fromkeys((*named, *diff.files)))


# The kind of contract -----------------------------------------------------------------------------


def _by_files(proof: RequestedProof) -> ContractType:
    return ContractType.VERIFIABLE if proof.wanted else ContractType.SKIP


def _by_words(reading: RequestReading, proof: RequestedProof, named: Sequence[str]) -> ContractType:
    """Return what the words ask for, but never less than the files they name."""
    if reading.asks is RequestedWork.ADVICE:
        return ContractType.ADVISORY
    if reading.asks is RequestedWork.TEXT or (named and not reading.firm):
        return _by_files(proof)
    return ContractType.VERIFIABLE


def _criteria(
    kind: ContractType, proof: RequestedProof, rules: Activities, *, known: bool = False
) -> tuple[Criterion, ...]:
    if kind is ContractType.ADVISORY:
        return ()
    always = tuple(_ALWAYS[each] for each in rules.always)
    if kind is ContractType.SKIP:
        return join_criteria(always, ())
    # Without a file that has its own tests, every test is required.
    whole = () if proof.wanted or known else (_ALL_TESTS,)
    return join_criteria(always, (*whole, *proof.criteria))


_ALWAYS: Final = {
    "typecheck": Criterion("typecheck", "No type errors"),
    "lint": Criterion("lint", "No lint errors"),
    "build": Criterion("build", "It builds"),
}


def _origin(request: ContractRequest) -> GeneratedFrom:
    return GeneratedFrom.PRD if request.prd else GeneratedFrom.AUTO


# What is said about it ----------------------------------------------------------------------------


def _reasons(
    reading: RequestReading,
    proof: RequestedProof,
    named: Sequence[str],
    kind: ContractType,
    *,
    given: bool,
) -> tuple[str, ...]:
    if given:
        what = "work on code" if proof.wanted else "no code among them"
        return (f"the files decide: {what}",)
    about: tuple[str, ...] = (reading.why,)
    if named:
        about += (f"no files were given; the description names {short_list(named, 3)}",)
    if kind is ContractType.VERIFIABLE and not proof.wanted:
        about += ("no file is known yet, so every test runs",)
    return about


def _notice(request: ContractRequest, kind: ContractType) -> str | None:
    if kind is not ContractType.ADVISORY:
        return None
    return (
        f"Advisory task detected: “{_title(request)}”. "
        "No automated verification: output will be logged for your review."
    )


def _doubt(request: ContractRequest, kind: ContractType, reading: RequestReading) -> str | None:
    title = f"“{_title(request)}”"
    if kind is ContractType.ADVISORY and request.prd:
        return (
            f"The story {title} asks for advice, which no check can prove. "
            "Is advice wanted, or what would prove it done?"
        )
    if kind is ContractType.ADVISORY and request.prompt_for_advisory:
        return f"No check can prove {title}. Shall it be done, for you to read?"
    if kind is not ContractType.ADVISORY and reading.asks is RequestedWork.UNSURE:
        return f"Does {title} ask for a change or for an answer? {reading.why.capitalize()}."
    return None


def _title(request: ContractRequest) -> str:
    line = " ".join(request.description.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


def _contract_of_text(request: ContractRequest, now: datetime) -> DraftedContract:
    """Return a text's contract by its own criteria; without any it is advisory."""
    kind = ContractType.VERIFIABLE if request.proofs else ContractType.ADVISORY
    contract = Contract(kind, join_criteria((), request.proofs), _origin(request), now)
    count = len(contract.criteria)
    why = f"it is a text; {count} of its properties can be checked" if count else "it is a text"
    doubt = _doubt(request, kind, RequestReading(RequestedWork.ADVICE, why))
    return DraftedContract(contract, (why,), None if doubt else _notice(request, kind), doubt)
