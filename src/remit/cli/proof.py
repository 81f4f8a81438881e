"""Renders the proof of a task: its contract, the checks' findings, and the attempts."""

from collections.abc import Iterator
from typing import Final

from remit.cli import out, words
from remit.cli.out import StyledText
from remit.journal import tries
from remit.journal.tries import TryHistory
from remit.model import contract as contracts
from remit.model.codec import Json, JsonMap, stamp, to_json
from remit.model.proof import UNVERIFIED, ProofState, matched, owners_word, proof_of
from remit.model.reply import AttemptOutcome
from remit.model.task import Task
from remit.store import deferred
from remit.store.database import Tx

SAYS: Final = {
    ProofState.NONE: "No contract says how to tell that it is done.",
    ProofState.OPEN: "Its contract is agreed on; the checks have not passed.",
    ProofState.VERIFIED: "Verified: every criterion of its contract was met.",
    ProofState.PARTLY: "Partly verified: nothing failed, but not all of it was checked or decided.",
    ProofState.PENDING: "What can be checked now is good; the rest is checked when its group ends.",
    ProofState.ADVISORY: "Not verified: it is advice, which no check can prove. Read it and judge.",
    ProofState.UNPROVEN: "Not verified: you took it although its checks did not pass.",
    ProofState.SILENT: "There was nothing to report, so nothing was sent or checked.",
    ProofState.REFUTED: "Not verified: what was checked when its group ended failed.",
}
_TYPES: Final = {
    contracts.ContractType.VERIFIABLE: "verifiable: checks decide",
    contracts.ContractType.ADVISORY: "advisory: you read it and judge",
    contracts.ContractType.SKIP: "skip: only the cheapest checks",
}
_FROM: Final = {
    contracts.GeneratedFrom.AUTO: "made by rules",
    contracts.GeneratedFrom.USER: "made by you",
    contracts.GeneratedFrom.PRD: "made from a requirements document",
}
_OPEN: Final = ("later", "not yet")
_RESULTS: Final = {
    contracts.Result.PASS: ("passed", "green"),
    contracts.Result.FAIL: ("failed", "red"),
    contracts.Result.SKIPPED: ("skipped", "dim"),
}
ENDED: Final = {
    AttemptOutcome.SUCCESS: "did it",
    AttemptOutcome.NEEDS_OWNER: "asked you",
    AttemptOutcome.RATE_LIMIT: "reached a limit",
    AttemptOutcome.BAD_OUTPUT: "left nothing to check",
    AttemptOutcome.VERIFICATION_FAILED: "did not pass the checks",
    AttemptOutcome.CONTEXT_OVERFLOW: "it was too long for it",
    AttemptOutcome.CRASH: "crashed",
    AttemptOutcome.TIMEOUT: "took too long",
}


def show(tx: Tx, task: Task) -> None:
    """Print the contract with its findings, then the attempts."""
    known = tries.read(tx, task)
    if task.contract is not None:
        _contract(tries.with_records(task, known), task.contract, _ends(tx, task))
    _attempts(known)


def facts(tx: Tx, task: Task) -> JsonMap:
    """Return the same, for programs."""
    found: list[Json] = [to_json(each) for each in tries.read(tx, task).attempts]
    waits: list[Json] = [
        {"place": each.place, "group": each.batch.group.key, "since": stamp(each.since)}
        for each in deferred.of_task(tx, task.id)
    ]
    return {"attempts": found, "proof": proof_of(task).value, "waits": waits}


def proof_sentences(tx: Tx, task: Task) -> Iterator[str]:
    """Yield what there is to know about the proof, in sentences."""
    if task.contract is None:
        return
    yield SAYS[proof_of(task)]
    if owners_word(task):
        yield f"You said: {owners_word(task)}"
    verdict = task.verdict
    for each in verdict.findings if verdict else ():
        if each.result is contracts.Result.FAIL:
            yield f"{each.activity} failed: {_short(each.error or 'it does not say why')}"
        elif (each.error or "").startswith(contracts.NOT_DECIDED):
            yield f"{each.activity} is {_short(each.error or '')}"
    for one in tries.read(tx, task).attempts:
        why = f": {_short(one.error)}" if one.error else ""
        yield f"{one.agent} tried, and {ENDED[one.outcome]}{why}"


def _ends(tx: Tx, task: Task) -> str:
    """Return what must end before the rest is checked."""
    waits = deferred.of_task(tx, task.id)
    return f"when {waits[0].batch.group.said} ends" if waits else "when its group ends"


def _contract(task: Task, contract: contracts.Contract, ends: str) -> None:
    out.line()
    out.line(StyledText("Contract", "bold"))
    out.line(f"  {_TYPES[contract.type]}; {_FROM[contract.generated_from]}")
    findings = task.verdict.findings if task.verdict else ()
    for criterion, found in matched(contract, findings):
        _criterion(criterion, found, ends)
    standing = proof_of(task)
    style = {ProofState.VERIFIED: "green", **dict.fromkeys(UNVERIFIED, "yellow")}
    text = (
        f"{SAYS[standing]} You said: {owners_word(task)}" if owners_word(task) else SAYS[standing]
    )
    out.line("  ", StyledText(text, style.get(standing, "dim")))


def _criterion(criterion: contracts.Criterion, found: contracts.Finding | None, ends: str) -> None:
    word, style = _RESULTS[found.result] if found else ("not yet", "dim")
    if found is not None and found.error == contracts.DEFERRED:
        word = "later"
    if found is not None and (found.error or "").startswith(contracts.NOT_DECIDED):
        word = contracts.NOT_DECIDED.rstrip(": ")
    pattern = f" ({criterion.pattern})" if criterion.pattern else ""
    later = f", {ends}" if criterion.timing is contracts.Timing.DEFERRED and word in _OPEN else ""
    known = found if word not in _OPEN else None
    often = f", {words.count(known.attempts, 'time')}" if known and known.attempts > 1 else ""
    took = f", {_seconds(known)}" if known and known.started_at and known.ended_at else ""
    text = f"{criterion.activity}: {criterion.description}{pattern}{later}{often}{took}"
    out.line("  ", StyledText(f"[{word}]", style), f" {text}")
    text = (found.error or found.note or "") if found is not None else ""
    if found is not None and text != contracts.DEFERRED:
        for line in text.strip().splitlines():
            out.line(
                "    ", StyledText(line, "red" if found.result is contracts.Result.FAIL else "dim")
            )


def _attempts(known: TryHistory) -> None:
    if not known.attempts:
        return
    out.line()
    out.line(StyledText("Attempts", "bold"))
    for each in known.attempts:
        took = (each.ended_at - each.started_at).total_seconds()
        style = "green" if each.outcome is AttemptOutcome.SUCCESS else ""
        why = f": {_short(each.error)}" if each.error else ""
        label = StyledText(f"{each.agent} {ENDED[each.outcome]}", style)
        out.line(f"  {words.local(each.started_at)}  ", label, f", {took:.1f} s{why}")


def _seconds(found: contracts.Finding) -> str:
    assert found.started_at is not None  # noqa: S101 - who calls has looked
    assert found.ended_at is not None  # noqa: S101
    return f"{(found.ended_at - found.started_at).total_seconds():.1f} s"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 160 else f"{flat[:159]}…"  # noqa: PLR2004 - of a line
