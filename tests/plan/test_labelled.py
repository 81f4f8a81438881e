"""The labelled tasks: those the words were tuned to, and those they had not seen."""

from remit.model.contract import ContractType
from tests.plan.labelled import HALVES, Labelled, labelled
from tests.tables import for_each

AT_LEAST = 0.95
ALL = [each for half in HALVES for each in labelled(half)]
STRANGER = "stranger"
LIGHT = {"advisory": 0, "skip": 1}
KINDS = {*ContractType, "unsure"}


def test_there_are_enough_and_none_twice() -> None:
    said = [(each.asked.description, each.asked.files) for each in ALL]

    assert len(said) == len(set(said)) >= 240
    assert sum(each.trap for each in ALL) >= 80
    assert all(len(labelled(half)) >= 60 for half in HALVES)
    assert {each.wanted for each in ALL} == KINDS


@for_each("half", HALVES)
def test_nineteen_of_twenty_contracts_are_of_the_right_kind(half: str) -> None:
    found = labelled(half)
    wrong = [
        f"{each.asked.description}: {each.found}" for each in found if each.found != each.wanted
    ]

    assert 1 - len(wrong) / len(found) >= AT_LEAST, wrong


@for_each("half", HALVES)
def test_no_work_on_code_is_let_off_in_silence(half: str) -> None:
    wrong = [
        each.asked.description
        for each in labelled(half)
        if each.wanted == "verifiable" and each.found in {"advisory", "skip"}
    ]

    assert wrong == []


def test_what_a_stranger_says_is_read_as_well_as_the_first_time_and_never_too_lightly() -> None:
    found = labelled(STRANGER)
    right = sum(each.found == each.wanted for each in found)
    lighter = [
        each.asked.description
        for each in found
        if LIGHT.get(each.found, 2) < LIGHT.get(each.wanted, 2)
    ]

    assert (len(found), lighter) == (60, [])
    assert right >= 48


@for_each("each", ALL)
def test_every_contract_says_why_and_proves_what_it_promises(each: Labelled) -> None:
    drafted = each.drafted()
    contract = drafted.contract
    activities = [criterion.activity for criterion in contract.criteria]

    assert all(drafted.why)
    match contract.type:
        case ContractType.ADVISORY:
            assert activities == []
            assert bool(drafted.notice) is not bool(drafted.unsure)
        case ContractType.SKIP:
            assert activities == ["typecheck", "lint"]
        case ContractType.VERIFIABLE:
            assert activities[:2] == ["typecheck", "lint"]
            assert len(activities) > 2
            assert drafted.notice is None
