"""Who works next, after every way in which an attempt can end."""

from collections import Counter
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.errors import BadInput
from remit.model.contract import Contract, ContractType, Criterion
from remit.model.specialist import AttemptOutcome, SpecialistAttempt
from remit.specialist import chain
from remit.specialist.chain import Exhausted, NewSession, NextAgent, RetryAgent

THEN = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
WHO = ("ada", "ben", "cem")
FAILURES = [
    e for e in AttemptOutcome if e not in (AttemptOutcome.SUCCESS, AttemptOutcome.NEEDS_OWNER)
]


def attempt(
    outcome: AttemptOutcome, error: str = "", agent: str = "ada", *failed: str
) -> SpecialistAttempt:
    return SpecialistAttempt(agent, THEN, THEN, outcome, error, failed)


def unproven(*errors: str, agent: str = "ada") -> list[SpecialistAttempt]:
    return [attempt(AttemptOutcome.VERIFICATION_FAILED, e, agent, "unit-test") for e in errors]


def test_the_first_of_the_line_begins() -> None:
    assert chain.follow(WHO, []) == NextAgent("ada")


def test_a_rate_limit_is_waited_out_three_times_before_another_is_asked() -> None:
    tries: list[SpecialistAttempt] = []
    found = []
    for _ in range(4):
        tries.append(attempt(AttemptOutcome.RATE_LIMIT, "429"))
        found.append(chain.follow(WHO, tries))

    assert found == [
        RetryAgent("ada", 30),
        RetryAgent("ada", 60),
        RetryAgent("ada", 120),
        NextAgent("ben"),
    ]


def test_a_rate_limit_after_other_work_is_a_first_one_again() -> None:
    tries = [attempt(AttemptOutcome.RATE_LIMIT), *unproven("a"), attempt(AttemptOutcome.RATE_LIMIT)]

    assert chain.follow(WHO, tries) == RetryAgent("ada", 30)


@pytest.mark.parametrize("outcome", [AttemptOutcome.BAD_OUTPUT, AttemptOutcome.CRASH])
def test_bad_output_and_a_crash_are_tried_once_more(outcome: AttemptOutcome) -> None:
    once, twice = [attempt(outcome, "a")], [attempt(outcome, "a"), attempt(outcome, "b")]

    assert chain.follow(WHO, once) == RetryAgent("ada")
    assert chain.follow(WHO, twice) == NextAgent("ben")


def test_who_took_too_long_gets_one_fresh_session() -> None:
    slow = attempt(AttemptOutcome.TIMEOUT, "no end")

    assert chain.follow(WHO, [slow]) == NewSession("ada")
    assert chain.follow(WHO, [slow, slow]) == NextAgent("ben")


def test_an_overflow_is_tried_once_in_a_fresh_session_then_the_owner_is_told_it_is_too_large() -> (
    None
):
    full = attempt(AttemptOutcome.CONTEXT_OVERFLOW, "too long")

    assert chain.follow(WHO, [full]) == NewSession("ada")
    found = chain.follow(WHO, [full, *unproven("a"), full])
    assert isinstance(found, Exhausted)
    assert "too large" in found.why


def test_work_that_is_not_proven_gets_three_fixes_then_another_specialist() -> None:
    assert chain.follow(WHO, unproven("a", "b", "c")) == RetryAgent("ada")
    assert chain.follow(WHO, unproven("a", "b", "c", "d")) == NextAgent("ben")


def test_fixes_are_counted_for_each_criterion() -> None:
    lint = [attempt(AttemptOutcome.VERIFICATION_FAILED, f"l{n}", "ada", "lint") for n in range(3)]

    assert chain.follow(WHO, [*unproven("a", "b", "c"), *lint]) == RetryAgent("ada")


def test_a_criterion_more_or_less_does_not_go_on_for_ever() -> None:
    tries = [attempt(AttemptOutcome.VERIFICATION_FAILED, f"{n}", "ada", f"c{n}") for n in range(10)]

    assert chain.follow(WHO, tries[:9]) == RetryAgent("ada")
    assert chain.follow(WHO, tries) == NextAgent("ben")


def test_the_same_error_twice_ends_the_turn_of_a_specialist() -> None:
    assert chain.follow(WHO, unproven("x is 1", "y", "x is 1")) == NextAgent("ben")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1 failed in 0.12s", "1 failed in 3.40s", True),
        ("<A at 0x7f01>", "<A at 0x7f99>", True),
        ("at 2026-03-01T10:00:00Z", "at 2026-03-01 10:05:09.123", True),
        ("bad: /tmp/a1/x.py", "bad: /tmp/b2/y.py", True),
        ("3 failed", "2 failed", False),
        ("assert 3 == 4", "assert 5 == 4", False),
        ("line 3 \n  indent", "line 3 indent", True),
    ],
)
def test_an_error_is_the_same_if_only_times_and_addresses_differ(
    one: str, other: str, *, same: bool
) -> None:
    first, second = unproven(one, other)

    assert chain.same_error(first, second) is same


def test_who_failed_is_not_asked_again() -> None:
    crashed = [attempt(AttemptOutcome.CRASH, e, agent) for agent in ("ada", "ben") for e in "ab"]

    assert chain.follow(WHO, crashed) == NextAgent("cem")


def test_when_everybody_has_tried_the_owner_is_told_who_and_how() -> None:
    tries = [
        attempt(AttemptOutcome.CRASH, "exit\ncode 3"),
        attempt(AttemptOutcome.CRASH, "exit code 4"),
    ]

    assert chain.follow(["ada"], tries) == Exhausted(
        "Everybody who can do this has tried.",
        ("ada tried 2 times; last: crash: exit code 4",),
    )


def test_without_anybody_it_is_said_what_to_set_up() -> None:
    found = chain.follow([], [])

    assert isinstance(found, Exhausted)
    assert "[specialists.NAME]" in found.why
    assert "[brain]" in found.why


def test_a_permission_goes_back_to_who_asked_for_it_without_end() -> None:
    asks = attempt(AttemptOutcome.NEEDS_OWNER)

    assert chain.follow(WHO, [asks, asks, asks]) == RetryAgent("ada")
    assert chain.follow(WHO, [asks] * 21) == NextAgent("ben")


def test_after_success_nobody_follows() -> None:
    with pytest.raises(BadInput, match="ended well"):
        chain.follow(WHO, [attempt(AttemptOutcome.SUCCESS)])


def test_an_attempt_knows_how_often_its_specialist_had_tried() -> None:
    tries: tuple[SpecialistAttempt, ...] = ()
    for agent in ("ada", "ada", "ben"):
        tries = chain.record(tries, replace(attempt(AttemptOutcome.CRASH), agent=agent))

    assert [each.retries for each in tries] == [0, 1, 0]


# Lines --------------------------------------------------------------------------------------------

ABLE = {
    "ada": frozenset({"frontend", "security"}),
    "ben": frozenset({"sql"}),
    "cem": frozenset[str](),
}


@pytest.mark.parametrize(
    ("needs", "wanted"),
    [
        ({"frontend"}, ("cem", "ada")),  # its own chain, without who cannot and who is not there
        ({"sql"}, ("ben", "cem")),
        ({"frontend", "security"}, ("cem", "ada")),
        ({"security", "sql"}, ("cem",)),  # both at once, in the first chain that fits
        ({"law"}, ("cem",)),  # who names nothing does anything
        (set[str](), ("ada", "cem")),
    ],
)
def test_a_line_is_the_chain_of_its_kind_without_who_cannot(
    needs: set[str], wanted: tuple[str, ...]
) -> None:
    chains = {
        "frontend": ["cem", "ben", "ada", "cem", "gone"],
        "sql": ["ben", "ada", "cem"],
        "*": ["ada", "cem"],
    }

    assert chain.line(chains, frozenset(needs), ABLE) == wanted


def test_without_chains_everybody_who_can_is_in_line() -> None:
    assert chain.line({}, frozenset({"sql"}), ABLE) == ("ben", "cem")


@pytest.mark.parametrize(
    ("contract", "wanted"),
    [
        (None, set[str]()),
        (Contract(ContractType.ADVISORY), {"advice"}),
        (Contract(ContractType.SKIP, (Criterion("lint", "clean"),)), {"text"}),
        (Contract(ContractType.VERIFIABLE, (Criterion("unit-test", "all"),)), set[str]()),
        (
            Contract(
                ContractType.VERIFIABLE,
                (
                    Criterion("critic", "frontend review", "frontend"),
                    Criterion("critic", "sql review", "sql"),
                    Criterion("critic", "in his own words"),
                ),
            ),
            {"frontend", "sql"},
        ),
    ],
)
def test_the_kinds_of_a_task_are_who_would_read_it(
    contract: Contract | None, wanted: set[str]
) -> None:
    assert chain.kinds(contract) == wanted


# Whatever happens ---------------------------------------------------------------------------------


@given(st.data())
def test_whatever_fails_it_ends_and_keeps_every_limit(data: st.DataObject) -> None:
    tries: tuple[SpecialistAttempt, ...] = ()
    delays: list[float] = []
    error = st.sampled_from(["one", "two", "three", "four", "five"])
    criteria = st.sets(st.sampled_from(["lint", "unit-test", "e2e"]), min_size=1)
    for _ in range(400):
        match chain.follow(WHO, tries):
            case Exhausted():
                break
            case RetryAgent(agent, delay):
                delays.append(delay)
            case NewSession(agent) | NextAgent(agent):
                pass
        outcome = data.draw(st.sampled_from([*FAILURES, AttemptOutcome.NEEDS_OWNER]))
        failed = data.draw(criteria) if outcome is AttemptOutcome.VERIFICATION_FAILED else set()
        tries = chain.record(tries, attempt(outcome, data.draw(error), agent, *sorted(failed)))
    else:
        raise AssertionError("it did not end")
    _check_limits(tries, delays)


def _check_limits(tries: tuple[SpecialistAttempt, ...], delays: list[float]) -> None:
    assert set(delays) <= {0.0, 30.0, 60.0, 120.0}
    runs = [
        each.agent for n, each in enumerate(tries) if n == 0 or tries[n - 1].agent != each.agent
    ]
    assert len(runs) == len(set(runs)), "somebody who gave up was asked again"
    for agent in WHO:
        mine = [each for each in tries if each.agent == agent]
        tally = Counter(each.outcome for each in mine)
        assert all(
            tally[once] <= 2
            for once in (AttemptOutcome.CRASH, AttemptOutcome.BAD_OUTPUT, AttemptOutcome.TIMEOUT)
        )
        assert tally[AttemptOutcome.CONTEXT_OVERFLOW] <= 2
        fixed = Counter(
            c
            for each in mine
            if each.outcome is AttemptOutcome.VERIFICATION_FAILED
            for c in each.failed
        )
        assert all(count <= 1 + chain.MAX_FIXES for count in fixed.values())
        errors = Counter(
            (each.outcome, each.failed, each.error)
            for each in mine
            if each.outcome not in (AttemptOutcome.RATE_LIMIT, AttemptOutcome.NEEDS_OWNER)
        )
        assert all(count <= 2 for count in errors.values())
