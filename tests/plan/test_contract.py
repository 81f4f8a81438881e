"""Contracts: drafted from words and files, told why, and only ever made stronger."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from remit.model.contract import Contract, ContractType, Criterion, GeneratedFrom, Timing
from remit.plan.activities import RulesFile, default_activities, load_activities
from remit.plan.contract import (
    ContractRequest,
    OwedChecks,
    covers,
    draft_contract,
    join_criteria,
    reclassify,
)
from remit.plan.diff import MAX_OWN_TEST_FILES
from tests.plan.labelled import NOW
from tests.tables import for_each

VERIFIABLE, ADVISORY, SKIP = ContractType.VERIFIABLE, ContractType.ADVISORY, ContractType.SKIP
TYPES = Criterion("typecheck", "No type errors")
LINT = Criterion("lint", "No lint errors")
ALL = Criterion("unit-test", "All tests pass")
STRENGTH = [ADVISORY, SKIP, VERIFIABLE]
LATER = NOW.replace(hour=12)


def drafted(description: str, *paths: str, diff: str = "") -> Contract:
    return draft_contract(
        ContractRequest(description, paths, diff), default_activities(), NOW
    ).contract


# The scenarios of S2 ------------------------------------------------------------------------------


def test_a_dark_mode_toggle_is_proven_by_its_tests_and_by_the_page() -> None:
    contract = drafted(
        "Add dark mode toggle to settings page",
        "src/components/DarkModeToggle.tsx",
        "src/pages/settings.tsx",
    )

    assert contract == Contract(
        VERIFIABLE,
        (
            TYPES,
            LINT,
            Criterion("unit-test", "Tests for DarkModeToggle.tsx", "DarkModeToggle"),
            Criterion("unit-test", "Tests for settings.tsx", "settings"),
            Criterion("critic", "frontend review", "frontend"),
            Criterion("e2e", "E2E coverage for DarkModeToggle.tsx, settings.tsx"),
        ),
        GeneratedFrom.AUTO,
        NOW,
    )


# When the owner is asked --------------------------------------------------------------------------


@for_each(
    ("asked", "kind", "question"),
    [
        (
            ContractRequest("Look into the login bug"),
            VERIFIABLE,
            "ask for a change or for an answer?",
        ),
        (ContractRequest("Explore games", prd=True), ADVISORY, "what would prove it done?"),
        (ContractRequest("Explore games", prompt_for_advisory=True), ADVISORY, "Shall it be done"),
        (
            ContractRequest("Write a poem", written=True, prd=True),
            ADVISORY,
            "what would prove it done?",
        ),
    ],
)
def test_what_is_not_clear_is_asked(
    asked: ContractRequest, kind: ContractType, question: str
) -> None:
    found = draft_contract(asked, default_activities(), NOW)

    assert found.contract.type is kind
    assert question in (found.unsure or "")
    assert found.notice is None


def test_known_files_leave_no_question_open_and_a_question_is_short() -> None:
    asked = ContractRequest(
        "Look into the login bug", ("src/login.py",), prd=True, prompt_for_advisory=True
    )
    found = draft_contract(asked, default_activities(), NOW)
    long = draft_contract(
        ContractRequest("Look into " + "the login bug " * 500), default_activities(), NOW
    )

    assert (found.contract.type, found.unsure) == (VERIFIABLE, None)
    assert found.contract.generated_from is GeneratedFrom.PRD
    assert 0 < len(long.unsure or "") < 400


# Files --------------------------------------------------------------------------------------------

PRICING = Criterion("unit-test", "Tests for pricing.py", "pricing")
MANY = tuple(f"src/m{n}.py" for n in range(MAX_OWN_TEST_FILES + 1))


def test_files_that_the_description_names_are_expected_and_that_is_said() -> None:
    found = draft_contract(
        ContractRequest("Fix typo in src/auth/session.py"), default_activities(), NOW
    )

    assert found.contract.type is VERIFIABLE
    assert "no files were given; the description names src/auth/session.py" in found.why
    assert Criterion("unit-test", "Tests for session.py", "session") in found.contract.criteria
    assert Criterion("critic", "security review", "security") in found.contract.criteria


def patch(path: str, line: str) -> str:
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -0,0 +1 @@\n+{line}\n"


GONE = "diff --git a/x.py b/x.py\ndeleted file mode 100644\n--- a/x.py\n+++ /dev/null\n"


@for_each(
    ("asked", "files", "diff", "criteria"),
    [
        ("Update README", (), "", (TYPES, LINT)),  # only what always runs
        ("Review src/auth/session.py", (), "", ()),  # it is only looked at
        ("Implement a loader for settings.yaml", (), "", (TYPES, LINT, ALL)),  # named in passing
        ("Add Frida to CONTRIBUTORS.md", (), "", (TYPES, LINT)),
        ("Fix the crash", (), "", (TYPES, LINT, ALL)),  # no file is known
        ("Update docs", ("a.whatever",), "", (TYPES, LINT, ALL)),  # no rule knows it
        ("Fix", ("shop/pricing.py", "tests/test_pricing.py"), "", (TYPES, LINT, PRICING)),
        ("Rename", MANY, "", (TYPES, LINT, ALL)),  # instead of thousands
        ("Drop it", (), GONE, (TYPES, LINT, ALL)),  # what is deleted has no tests of its own
        # A document may speak of anything.
        ("Tidy", (), patch("README.md", "never eval( a password"), (TYPES, LINT)),
    ],
)
def test_what_is_known_of_the_files_decides_what_is_checked(
    asked: str, files: tuple[str, ...], diff: str, criteria: tuple[Criterion, ...]
) -> None:
    found = draft_contract(ContractRequest(asked, files, diff), default_activities(), NOW)

    assert found.contract.criteria == criteria
    assert (found.unsure, found.notice is None) == (None, found.contract.type is not ADVISORY)
    assert found.contract.type is not SKIP or criteria == (TYPES, LINT)


def test_a_change_in_three_places_or_in_shared_code_is_read_and_runs_every_test() -> None:
    wide = drafted("Fix", "a/x.py", "b/y.py", "c/z.py")
    shared = drafted("Fix", "app/shared/money.py")

    assert {ALL, Criterion("critic", "architecture review", "architecture")} <= set(wide.criteria)
    assert ALL in shared.criteria
    assert ALL not in drafted("Fix", "a/x.py", "b/y.py").criteria
    assert drafted("Reword", "docs/a/x.md", "docs/b/y.md", "core/z.md").type is SKIP


def test_a_build_is_asked_for_where_a_project_says_so() -> None:
    rules = load_activities(
        RulesFile("mine.yml", 'version: 1\nalways: [build]\nfiles: {"*.rs": {build: true}}')
    )
    found = draft_contract(ContractRequest("Fix", ("a.rs",)), rules, NOW).contract

    assert [each.activity for each in found.criteria] == ["typecheck", "lint", "build", "unit-test"]


# The diff -----------------------------------------------------------------------------------------


@for_each(
    ("diff", "criterion", "why"),
    [
        (
            patch("a/db.py", "cur.execute('DELETE FROM x')"),
            Criterion("critic", "sql review", "sql"),
            "the diff says “delete from”: it changes what is kept",
        ),
        ("os.system('rm -rf /')", Criterion("critic", "security review", "security"), ""),
        (
            patch("src/page.js", "x.innerHTML = y"),
            Criterion("e2e", "E2E coverage for what changed", timing=Timing.DEFERRED),
            "",
        ),
    ],
)
def test_what_the_diff_says_is_looked_at_by_who_knows(
    diff: str, criterion: Criterion, why: str
) -> None:
    found = draft_contract(ContractRequest("Implement it", diff=diff), default_activities(), NOW)

    assert criterion in found.contract.criteria
    assert not why or why in found.why


# Texts --------------------------------------------------------------------------------------------


def test_a_text_is_proven_by_criteria_of_its_own_and_else_it_is_advice() -> None:
    proofs = (Criterion("mentions", "names it", "Sanur"), Criterion("length", "short", "1-9"))
    asked = ContractRequest("Research beaches", written=True, proofs=proofs)
    found = draft_contract(asked, default_activities(), NOW)
    code = draft_contract(ContractRequest("x", ("a.py",), written=True), default_activities(), NOW)

    assert (found.contract.type, found.contract.criteria) == (VERIFIABLE, proofs)
    assert (found.notice, found.unsure) == (None, None)
    assert draft_contract(
        ContractRequest("Write a poem", written=True), default_activities(), NOW
    ).notice
    assert code.contract.type is VERIFIABLE


# After the work -----------------------------------------------------------------------------------


def test_advice_that_changed_code_must_prove_it() -> None:
    before = drafted("Investigate slow API")
    after = reclassify(before, patch("api/orders.py", "x = 1"), (), default_activities(), LATER)

    assert after.type is VERIFIABLE
    assert after.generated_at == LATER
    assert Criterion("unit-test", "Tests for orders.py", "orders") in after.criteria
    assert after.digest != before.digest


def test_a_contract_that_still_fits_is_the_same_to_the_byte() -> None:
    before = drafted("Fix", "a.py")

    assert reclassify(before, "", ("a.py",), default_activities(), LATER) is before
    assert reclassify(before, "", (), default_activities(), LATER) is before
    assert reclassify(before, "", ("README.md",), default_activities(), LATER) is before


def test_a_criterion_of_the_owner_stays_beside_ours() -> None:
    mine = Criterion("critic", "my own eyes")
    before = Contract(SKIP, (mine, Criterion("mentions", "x", "y")), GeneratedFrom.USER)
    after = reclassify(before, "", ("a.py",), default_activities(), LATER)

    assert {mine, *before.criteria} <= set(after.criteria)
    assert after.generated_from is GeneratedFrom.USER


PATHS = st.lists(
    st.sampled_from(
        (
            *("a.py", "b/c.ts", "docs/x.md", "src/pages/p.tsx", "Dockerfile", "core/a.go"),
            *("x.unknown", "README", "db/migrations/1.sql", ".github/workflows/ci.yml"),
        )
    ),
    max_size=6,
)
SAID = st.sampled_from(
    [
        "Implement it",
        "Investigate it",
        "Update docs",
        "Look into it",
        "skip verification",
        "this is trivial, docs only, no tests are needed",
    ]
)


@given(SAID, PATHS, PATHS, st.text(max_size=80))
def test_a_contract_is_never_weaker_than_before_nor_than_the_files_demand(
    said: str, expected: list[str], changed: list[str], claim: str
) -> None:
    before = drafted(said, *expected)
    plea = f"{claim}\nskip verification, docs only, type: skip"
    for diff in ("", plea):
        after = reclassify(before, diff, changed, default_activities(), LATER)
        for floor in (before, *([drafted("", *changed)] if changed else [])):
            assert STRENGTH.index(after.type) >= STRENGTH.index(floor.type)
            assert all(any(covers(one, each) for one in after.criteria) for each in floor.criteria)


@given(SAID, PATHS, st.text(max_size=80))
def test_words_never_make_files_weaker(said: str, paths: list[str], more: str) -> None:
    plain = drafted("", *paths) if paths else None

    if plain is not None:
        assert drafted(f"{said} {more}", *paths).criteria == plain.criteria


CRITERIA = st.builds(
    Criterion,
    st.sampled_from(["typecheck", "unit-test", "critic", "e2e", "mentions"]),
    st.sampled_from(["a", "b"]),
    st.sampled_from([None, "x"]),
    st.sampled_from(list(Timing)),
)


@given(st.lists(CRITERIA), st.lists(CRITERIA))
def test_nothing_is_lost_and_nothing_stands_twice(
    one: list[Criterion], other: list[Criterion]
) -> None:
    both = join_criteria(one, other)

    assert all(any(covers(kept, each) for kept in both) for each in (*one, *other))
    assert not any(covers(a, b) for a, b in product(both, both) if a is not b)
    assert set(both) <= {*one, *other}
    # A tighter time covers a looser one, and not the other way round.
    now, late = (Criterion("e2e", "a", timing=each) for each in (Timing.IMMEDIATE, Timing.DEFERRED))
    assert (covers(now, late), covers(late, now)) == (True, False)


# What is owed -------------------------------------------------------------------------------------

OWED = OwedChecks((Criterion("unit-test", "All tests pass: a.py failed before"),), ("a.py failed",))


@for_each("paths", [("src/a.py",), ("README.md",), ()])
def test_what_is_owed_is_asked_of_whatever_changes_and_why_is_said(paths: tuple[str, ...]) -> None:
    found = draft_contract(ContractRequest("Fix it", paths, owed=OWED), default_activities(), NOW)

    assert found.contract.type is VERIFIABLE
    assert OWED.criteria[0] in found.contract.criteria
    assert found.why[-1] == "a.py failed"
    # It stands in place of what asks for the same.
    tests = [each for each in found.contract.criteria if each.activity == "unit-test"]
    assert paths or tests == [*OWED.criteria]


def test_advice_owes_nothing_as_long_as_it_changes_nothing() -> None:
    found = draft_contract(
        ContractRequest("Investigate why a.py is slow", owed=OWED), default_activities(), NOW
    )

    assert (found.contract.type, found.contract.criteria) == (ADVISORY, ())
    assert "a.py failed" not in found.why
    real = reclassify(found.contract, "", ["a.py"], default_activities(), LATER, OWED)
    assert real.type is VERIFIABLE
    assert OWED.criteria[0] in real.criteria


def test_what_is_owed_is_asked_by_what_was_really_changed_and_makes_nothing_weaker() -> None:
    before = drafted("Change it", "src/a.py")

    real = reclassify(before, "", ["src/a.py"], default_activities(), LATER, OWED)

    assert {*before.criteria} < {*real.criteria}
    assert real.generated_at == LATER
    assert reclassify(real, "", ["src/a.py"], default_activities(), NOW, OWED) == real
    assert reclassify(before, "", ["src/a.py"], default_activities(), LATER) == before


def test_what_must_pass_now_is_not_put_off() -> None:
    late = Criterion("e2e", "a", timing=Timing.DEFERRED)
    before = Contract(VERIFIABLE, (LINT, late))
    owed = OwedChecks((replace(late, timing=Timing.IMMEDIATE),))

    for real in (
        reclassify(before, "", ["README.md"], default_activities(), LATER, owed),
        reclassify(
            drafted("Fix", "src/Card.tsx"), "", ("src/pages/a.tsx",), default_activities(), LATER
        ),
    ):
        found = [each.timing for each in real.criteria if each.activity == "e2e"]
        assert found == [Timing.IMMEDIATE]
