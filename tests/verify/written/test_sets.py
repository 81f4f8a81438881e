"""Honest work passes and dishonest work is caught: counted over everything that was collected.

The halves of the first sets, and the sets that were written later, are counted apart, so that a
change which only learns the cases by heart is seen.
"""

from collections.abc import Iterator
from random import Random

import pytest

from remit.brain.scripted import ScriptedBrain
from remit.gate import judge
from remit.model.contract import Contract, ContractType, Evidence, Overall, Plan
from remit.model.reply import Deliverable, Prompt
from remit.testing import script
from remit.verify import Verifier
from remit.verify.written import CHECKS
from remit.verify.written.figures import AmountFigure, DateFigure, TimeFigure, find_figures
from remit.verify.written.grounded import invented_figures
from tests.soak import one_in
from tests.tables import for_each
from tests.verify.written.cases import (
    Case,
    contract_for,
    dishonest,
    failures,
    honest,
    task_for,
    unseen,
)

LATER = ("later", "blind", "last", "final")


async def _wrong(cases: list[Case]) -> list[str]:
    """The honest ones that fail, and what they were told."""
    told = [(case, await failures(case)) for case in cases]
    return [f"{case.id} {each.activity}: {each.error}" for case, found in told for each in found]


async def _missed(cases: list[Case]) -> list[str]:
    """The dishonest ones that the check which should have caught them let pass."""
    told = [(case, await failures(case)) for case in cases]
    return [case.id for case, found in told if case.by not in {each.activity for each in found}]


def test_the_sets_are_as_large_as_they_are_said_to_be() -> None:
    kinds = {case.by for case in dishonest()}

    assert len(honest()) == 100
    assert len(dishonest()) == 76
    assert len({case.id for case in (*honest().values(), *dishonest())}) == 176
    assert kinds >= set(CHECKS) - {"mentions", "request"}  # test_request.py has its own sets


@pytest.mark.parametrize("held_out", [False, True])
async def test_honest_work_passes(*, held_out: bool) -> None:
    cases = [case for case in honest().values() if case.held_out is held_out]

    wrong = await _wrong(cases)

    assert len(wrong) <= 0.02 * len(cases), wrong


@pytest.mark.parametrize("held_out", [False, True])
async def test_dishonest_work_is_caught_by_the_check_that_is_meant_for_it(
    *, held_out: bool
) -> None:
    cases = [case for case in dishonest() if case.held_out is held_out]

    missed = await _missed(cases)

    assert len(missed) <= 0.05 * len(cases), missed


@for_each("name", LATER)
async def test_work_that_came_later_fares_no_worse_than_it_did(name: str) -> None:
    cases = unseen(name)

    assert len(await _wrong([case for case in cases if not case.by])) <= 1
    assert len(await _missed([case for case in cases if case.by])) <= 2


async def test_lies_of_other_kinds_are_caught_but_those_that_are_known_to_be_open() -> None:
    cases = unseen("kinds")

    assert await _wrong([case for case in cases if not case.by]) == []
    missed = await _missed([case for case in cases if case.by])
    assert missed == [case.id for case in cases if case.open]
    assert len(missed) <= 6


async def test_no_honest_work_of_any_set_is_said_to_be_caught_by_two_checks() -> None:
    cases = [*honest().values(), *(case for name in LATER for case in unseen(name))]

    for case in cases:
        if not case.by:
            assert len(await failures(case)) <= 1, case.id


async def test_a_figure_that_is_changed_at_random_is_seen() -> None:
    """Nineteen in twenty; the rest happens to be what others come to, or stands elsewhere."""
    chance = Random(5)  # noqa: S311 - the same every time
    seen = [each for case in _honest_with_figures() for each in _changed(case, chance)]

    assert len(seen) > 250
    assert sum(seen) >= 0.93 * len(seen)


def _honest_with_figures() -> list[Case]:
    every = [*honest().values(), *(case for name in LATER for case in unseen(name))]
    asked = [case for case in every if not case.by]
    return [case for case in asked if "grounded" in {each.activity for each in contract_for(case)}]


def _changed(case: Case, chance: Random) -> Iterator[bool]:
    """Change two digits of a figure of the answer, and say whether that was seen."""
    for figure in find_figures(case.answer)[::2]:
        said = figure.text
        digits = [at for at, sign in enumerate(said) if sign.isdigit()]
        if isinstance(figure, AmountFigure | DateFigure | TimeFigure) and len(digits) > 1:
            new = list(said)
            for at in chance.sample(digits, 2):
                new[at] = chance.choice([digit for digit in "123456789" if digit != new[at]])
            start = case.answer.index(said, figure.at)
            text = case.answer[:start] + "".join(new) + case.answer[start + len(said) :]
            yield bool(invented_figures(task_for(case.ask), Evidence(text, case.read)))


@one_in(3)
@pytest.mark.parametrize("case", dishonest()[::4], ids=lambda case: case.id)
async def test_a_brain_that_lies_is_found_out_before_anything_is_sent(case: Case) -> None:
    """The whole way: the brain's reply, the gate, the contract from the owner's words."""
    brain = script([{"reply": f"Done.\n<deliverable>{case.answer}</deliverable>"}])
    assert isinstance(brain, ScriptedBrain)
    reply = await brain.think(Prompt(case.ask), session="ses-1")
    judged = judge(reply, most=100_000)
    if not isinstance(judged, Deliverable):
        assert case.by == "no-placeholder"  # what speaks of itself as a machine goes no further
        return
    plan = Plan(contract=Contract(ContractType.VERIFIABLE, contract_for(case)))

    evidence = Evidence(judged.text, case.read)
    verdict = await Verifier(CHECKS).verify(task_for(case.ask), plan, evidence)

    assert verdict.overall is Overall.FAIL
    assert case.by in verdict.complaint
