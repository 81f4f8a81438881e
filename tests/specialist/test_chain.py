"""Who works next, after every way in which an attempt can end."""

from collections import Counter
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.errors import BadInput
from remit.model.contract import Contract, ContractType, Criterion
from remit.model.specialist import Attempt, Ended
from remit.specialist import chain
from remit.specialist.chain import Again, Exhausted, Fresh, Other

THEN = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
WHO = ("ada", "ben", "cem")
FAILURES = [e for e in Ended if e not in (Ended.SUCCESS, Ended.NEEDS_OWNER)]


def attempt(outcome: Ended, error: str = "", agent: str = "ada", *failed: str) -> Attempt:
    return Attempt(agent, THEN, THEN, outcome, error, failed)


def unproven(*errors: str, agent: str = "ada") -> list[Attempt]:
    return [attempt(Ended.VERIFICATION_FAILED, e, agent, "unit-test") for e in errors]


def test_the_first_of_the_line_begins() -> None:
    assert chain.follow(WHO, []) == Other("ada")


def test_a_rate_limit_is_waited_out_three_times_before_another_is_asked() -> None:
    tries: list[Attempt] = []
    found = []
    for _ in range(4):
        tries.append(attempt(Ended.RATE_LIMIT, "429"))
        found.append(chain.follow(WHO, tries))

    assert found == [Again("ada", 30), Again("ada", 60), Again("ada", 120), Other("ben")]


def test_a_rate_limit_after_other_work_is_a_first_one_again() -> None:
    tries = [attempt(Ended.RATE_LIMIT), *unproven("a"), attempt(Ended.RATE_LIMIT)]

    assert chain.follow(WHO, tries) == Again("ada", 30)


@pytest.mark.parametrize("outcome", [Ended.BAD_OUTPUT, Ended.CRASH])
def test_bad_output_and_a_crash_are_tried_once_more(outcome: Ended) -> None:
    once, twice = [attempt(outcome, "a")], [attempt(outcome, "a"), attempt(outcome, "b")]

    assert chain.follow(WHO, once) == Again("ada")
    assert chain.follow(WHO, twice) == Other("ben")


def test_who_took_too_long_gets_one_fresh_session() -> None:
    slow = attempt(Ended.TIMEOUT, "no end")

    assert chain.follow(WHO, [slow]) == Fresh("ada")
    assert chain.follow(WHO, [slow, slow]) == Other("ben")


def test_an_overflow_is_tried_once_in_a_fresh_session_then_the_owner_is_told_it_is_too_large() -> (
    None
):
    full = attempt(Ended.CONTEXT_OVERFLOW, "too long")

    assert chain.follow(WHO, [full]) == Fresh("ada")
    found = chain.follow(WHO, [full, *unproven("a"), full])
    assert isinstance(found, Exhausted)
    assert "too large" in found.why


def test_work_that_is_not_proven_gets_three_fixes_then_another_specialist() -> None:
    assert chain.follow(WHO, unproven("a", "b", "c")) == Again("ada")
    assert chain.follow(WHO, unproven("a", "b", "c", "d")) == Other("ben")


def test_fixes_are_counted_for_each_criterion() -> None:
    lint = [attempt(Ended.VERIFICATION_FAILED, f"l{n}", "ada", "lint") for n in range(3)]

    assert chain.follow(WHO, [*unproven("a", "b", "c"), *lint]) == Again("ada")


def test_a_criterion_more_or_less_does_not_go_on_for_ever() -> None:
    tries = [attempt(Ended.VERIFICATION_FAILED, f"{n}", "ada", f"c{n}") for n in range(10)]

    assert chain.follow(WHO, tries[:9]) == Again("ada")
    assert chain.follow(WHO, tries) == Other("ben")


def test_the_same_error_twice_ends_the_turn_of_a_specialist() -> None:
    assert chain.follow(WHO, unproven("x is 1", "y", "x is 1")) == Other("ben")


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
    crashed = [attempt(Ended.CRASH, e, agent) for agent in ("ada", "ben") for e in "ab"]

    assert chain.follow(WHO, crashed) == Other("cem")


def test_when_everybody_has_tried_the_owner_is_told_who_and_how() -> None:
    tries = [attempt(Ended.CRASH, "exit\ncode 3"), attempt(Ended.CRASH, "exit code 4")]

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
    asks = attempt(Ended.NEEDS_OWNER)

    assert chain.follow(WHO, [asks, asks, asks]) == Again("ada")
    assert chain.follow(WHO, [asks] * 21) == Other("ben")


def test_after_success_nobody_follows() -> None:
    with pytest.raises(BadInput, match="ended well"):
        chain.follow(WHO, [attempt(Ended.SUCCESS)])


def test_an_attempt_knows_how_often_its_specialist_had_tried() -> None:
    tries: tuple[Attempt, ...] = ()
    for agent in ("ada", "ada", "ben"):
        tries = chain.record(tries, replace(attempt(Ended.CRASH), agent=agent))

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
    tries: tuple[Attempt, ...] = ()
    delays: list[float] = []
    error = st.sampled_from(["one", "two", "three", "four", "five"])
    criteria = st.sets(st.sampled_from(["lint", "unit-test", "e2e"]), min_size=1)
    for _ in range(400):
        match chain.follow(WHO, tries):
            case Exhausted():
                break
            case Again(agent, delay):
                delays.append(delay)
            case Fresh(agent) | Other(agent):
                pass
        outcome = data.draw(st.sampled_from([*FAILURES, Ended.NEEDS_OWNER]))
        failed = data.draw(criteria) if outcome is Ended.VERIFICATION_FAILED else set()
        tries = chain.record(tries, attempt(outcome, data.draw(error), agent, *sorted(failed)))
    else:
        raise AssertionError("it did not end")
    _check_limits(tries, delays)


def _check_limits(tries: tuple[Attempt, ...], delays: list[float]) -> None:
    assert set(delays) <= {0.0, 30.0, 60.0, 120.0}
    runs = [
        each.agent for n, each in enumerate(tries) if n == 0 or tries[n - 1].agent != each.agent
    ]
    assert len(runs) == len(set(runs)), "somebody who gave up was asked again"
    for agent in WHO:
        mine = [each for each in tries if each.agent == agent]
        tally = Counter(each.outcome for each in mine)
        assert all(tally[once] <= 2 for once in (Ended.CRASH, Ended.BAD_OUTPUT, Ended.TIMEOUT))
        assert tally[Ended.CONTEXT_OVERFLOW] <= 2
        fixed = Counter(
            c for each in mine if each.outcome is Ended.VERIFICATION_FAILED for c in each.failed
        )
        assert all(count <= 1 + chain.MOST_FIXES for count in fixed.values())
        errors = Counter(
            (each.outcome, each.failed, each.error)
            for each in mine
            if each.outcome not in (Ended.RATE_LIMIT, Ended.NEEDS_OWNER)
        )
        assert all(count <= 2 for count in errors.values())
