"""Who works next, after every way in which an attempt can end."""

from collections import Counter
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.errors import BadInput
from remit.model.contract import Contract, ContractType, Criterion
from remit.model.reply import AttemptOutcome, SpecialistAttempt
from remit.specialist import chain
from remit.specialist.chain import Exhausted, NewSession, NextAgent, RetryAgent
from tests.tables import for_each, table

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


RATE, TIMEOUT = attempt(AttemptOutcome.RATE_LIMIT, "429"), attempt(AttemptOutcome.TIMEOUT, "slow")
ASKS = attempt(AttemptOutcome.NEEDS_OWNER)
LINT = [attempt(AttemptOutcome.VERIFICATION_FAILED, f"l{n}", "ada", "lint") for n in range(3)]
OTHERS = [attempt(AttemptOutcome.VERIFICATION_FAILED, f"{n}", "ada", f"c{n}") for n in range(10)]
CRASHES = [attempt(AttemptOutcome.CRASH, e, agent) for agent in ("ada", "ben") for e in "ab"]


@for_each(
    ("tries", "then"),
    [
        ([], NextAgent("ada")),  # the first of the line begins
        ([RATE], RetryAgent("ada", 30)),  # a limit is waited out three times
        ([RATE] * 2, RetryAgent("ada", 60)),
        ([RATE] * 3, RetryAgent("ada", 120)),
        ([RATE] * 4, NextAgent("ben")),
        ([RATE, *unproven("a"), RATE], RetryAgent("ada", 30)),  # a first one again
        ([attempt(AttemptOutcome.BAD_OUTPUT, "a")], RetryAgent("ada")),  # tried once more
        ([attempt(AttemptOutcome.BAD_OUTPUT, e) for e in "ab"], NextAgent("ben")),
        (CRASHES[:1], RetryAgent("ada")),
        (CRASHES[:2], NextAgent("ben")),
        (CRASHES, NextAgent("cem")),  # who failed is not asked again
        ([TIMEOUT], NewSession("ada")),  # one fresh session
        ([attempt(AttemptOutcome.CONTEXT_OVERFLOW, "too long")], NewSession("ada")),
        ([TIMEOUT] * 2, NextAgent("ben")),
        (unproven("a", "b", "c"), RetryAgent("ada")),  # three fixes
        (unproven("a", "b", "c", "d"), NextAgent("ben")),
        ([*unproven("a", "b", "c"), *LINT], RetryAgent("ada")),  # for each criterion
        (OTHERS[:9], RetryAgent("ada")),  # and not for ever
        (OTHERS, NextAgent("ben")),
        (unproven("x is 1", "y", "x is 1"), NextAgent("ben")),  # the same error twice
        ([ASKS] * 3, RetryAgent("ada")),  # a permission goes back to who asked for it
        ([ASKS] * 21, NextAgent("ben")),
    ],
)
def test_what_happened_decides_who_works_next(
    tries: list[SpecialistAttempt], then: RetryAgent | NewSession | NextAgent
) -> None:
    assert chain.next_step(WHO, tries) == then


@for_each(("one", "other", "same"), table(__file__, "same_errors"))
def test_an_error_is_the_same_if_only_times_and_addresses_differ(
    one: str, other: str, *, same: bool
) -> None:
    first, second = unproven(one, other)

    assert chain.same_error(first, second) is same


FULL = attempt(AttemptOutcome.CONTEXT_OVERFLOW, "too long")


@for_each(
    ("who", "tries", "why", "trail"),
    [
        (
            ["ada"],
            [attempt(AttemptOutcome.CRASH, f"exit\ncode {n}") for n in (3, 4)],
            "Everybody who can do this has tried.",
            ("ada tried 2 times; last: crash: exit code 4",),
        ),
        (WHO, [FULL, *unproven("a"), FULL], "too large", None),
        ([], [], "[specialists.NAME]", None),
        ([], [], "[brain]", None),
    ],
)
def test_when_everybody_has_tried_the_owner_is_told_who_and_how(
    who: list[str], tries: list[SpecialistAttempt], why: str, trail: tuple[str, ...] | None
) -> None:
    found = chain.next_step(who, tries)

    assert isinstance(found, Exhausted)
    assert why in found.why
    assert trail is None or found == Exhausted(why, trail)


def test_after_success_nobody_follows() -> None:
    with pytest.raises(BadInput, match="ended well"):
        chain.next_step(WHO, [attempt(AttemptOutcome.SUCCESS)])


def test_an_attempt_knows_how_often_its_specialist_had_tried() -> None:
    tries: tuple[SpecialistAttempt, ...] = ()
    for agent in ("ada", "ada", "ben"):
        tries = chain.add_attempt(tries, replace(attempt(AttemptOutcome.CRASH), agent=agent))

    assert [each.retries for each in tries] == [0, 1, 0]


# Lines --------------------------------------------------------------------------------------------

ABLE = {
    "ada": frozenset({"frontend", "security"}),
    "ben": frozenset({"sql"}),
    "cem": frozenset[str](),
}


@for_each(
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

    assert chain.specialist_line(chains, frozenset(needs), ABLE) == wanted
    # Without chains everybody who can is in line.
    assert chain.specialist_line({}, frozenset({"sql"}), ABLE) == ("ben", "cem")


@for_each(
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
    assert chain.kinds_of_work(contract) == wanted


# Whatever happens ---------------------------------------------------------------------------------


@given(st.data())
def test_whatever_fails_it_ends_and_keeps_every_limit(data: st.DataObject) -> None:
    tries: tuple[SpecialistAttempt, ...] = ()
    delays: list[float] = []
    error = st.sampled_from(["one", "two", "three", "four", "five"])
    criteria = st.sets(st.sampled_from(["lint", "unit-test", "e2e"]), min_size=1)
    for _ in range(400):
        match chain.next_step(WHO, tries):
            case Exhausted():
                break
            case RetryAgent(agent, delay):
                delays.append(delay)
            case NewSession(agent) | NextAgent(agent):
                pass
        outcome = data.draw(st.sampled_from([*FAILURES, AttemptOutcome.NEEDS_OWNER]))
        failed = data.draw(criteria) if outcome is AttemptOutcome.VERIFICATION_FAILED else set()
        tries = chain.add_attempt(tries, attempt(outcome, data.draw(error), agent, *sorted(failed)))
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
