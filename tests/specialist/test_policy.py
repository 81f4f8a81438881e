"""What a specialist may do without the owner, what it is told, and what its last words mean."""

from hypothesis import given
from hypothesis import strategies as st

from remit.model.codec import Json
from remit.model.contract import Contract, ContractType, Criterion, Timing
from remit.model.reply import AttemptOutcome, Policy, ToolCall
from remit.specialist import chain, changes
from remit.system.process import last_lines
from tests.tables import for_each, table

HOME = "/house/tree"


def call(tool: str, *places: str, given: Json = None) -> ToolCall:
    args: dict[str, Json] = {"input": given}
    if places:
        args["locations"] = list(places)
    return ToolCall("1", tool, args)


@for_each(
    ("wanted", "answer"),
    [
        (call("read", f"{HOME}/a.py"), Policy.ALLOW),
        (call("edit", f"{HOME}/a.py", f"{HOME}/b/c.py"), Policy.ALLOW),
        (call("edit", "a.py"), Policy.ALLOW),
        (call("search", given={"query": "def x"}), Policy.ALLOW),
        (call("think"), Policy.ALLOW),
        (call("edit"), Policy.ASK),
        (call("edit", f"{HOME}/a.py", "/etc/passwd"), Policy.ASK),
        (call("edit", f"{HOME}/../x"), Policy.ASK),
        (call("edit", f"{HOME}/.git/config"), Policy.ASK),
        (call("edit", f"{HOME}-other/a.py"), Policy.ASK),
        (call("read", "/etc/passwd"), Policy.ASK),
        (call("search", given={"path": "/etc"}), Policy.ASK),
        (call("search", given={"paths": ["a", "../../x"]}), Policy.ASK),
        (call("execute", f"{HOME}/a.py"), Policy.ASK),
        (call("fetch"), Policy.ASK),
        (call("switch_mode"), Policy.ASK),
        (call("anything"), Policy.ASK),
    ],
)
def test_reading_and_editing_in_the_folder_is_free_and_all_else_is_asked(
    wanted: ToolCall, answer: Policy
) -> None:
    assert changes.rule_on_call(wanted, HOME) is answer


@given(st.text())
def test_no_path_with_a_way_up_is_inside(text: str) -> None:
    assert not changes.is_inside(f"{HOME}/{text}/../../x", HOME)
    assert not changes.is_inside(f"/elsewhere/{text}", HOME)


def test_a_call_is_shown_to_the_letter() -> None:
    alone = ToolCall("1", "execute", {"command": "make"})
    with_more = ToolCall("1", "execute", {"command": "make", "cwd": "/"})

    assert changes.exact_call(alone) == "make"
    assert changes.exact_call(with_more) == '{"command":"make","cwd":"/"}'


# Last words ---------------------------------------------------------------------------------------


@for_each(
    ("said", "outcome"),
    [*table(__file__, "last_words"), ("rate limit\n" + "x" * 5_000, "CRASH")],
)
def test_what_the_last_words_say_is_the_class_of_the_failure(said: str, outcome: str) -> None:
    assert chain.classify_failure(said) is AttemptOutcome[outcome]


# What it is told ----------------------------------------------------------------------------------


TOGGLE = Contract(
    ContractType.VERIFIABLE,
    (
        Criterion("unit-test", "Toggle component must have passing tests"),
        Criterion("e2e", "Settings page toggle must change theme"),
        Criterion("typecheck", "No type errors"),
        Criterion("lint", "No lint errors"),
    ),
)
SECTION = """\
## Verification Contract

Your work will be verified by:
1. **Unit tests** — Toggle component must have passing tests
2. **E2E test** — Settings page toggle must change theme (runs immediately)
3. **Typecheck** — No type errors
4. **Lint** — No lint errors

Write your implementation knowing these criteria will be checked."""


def test_the_contract_is_told_in_numbered_words() -> None:
    assert changes.contract_section(TOGGLE) == SECTION
    assert changes.contract_section(Contract(ContractType.ADVISORY)) == (
        "## Verification Contract\n\n"
        "No check decides about this work; the owner will read what you write."
    )


@for_each(
    ("criterion", "told"),
    [
        (
            Criterion("unit-test", "Tests for a", "DarkModeToggle"),
            "1. **Unit tests** — Tests for a (pattern `DarkModeToggle`)",
        ),
        (
            Criterion("e2e", "Theme", timing=Timing.DEFERRED),
            "1. **E2E test** — Theme (runs when the group ends)",
        ),
        (Criterion("critic", "one\ntwo"), "1. **Critic** — one two"),
        (Criterion("no-placeholder", "None"), "1. **No placeholder** — None"),
    ],
)
def test_a_criterion_says_what_is_checked_with_what_and_when(
    criterion: Criterion, told: str
) -> None:
    assert (
        told
        in changes.contract_section(Contract(ContractType.VERIFIABLE, (criterion,))).splitlines()
    )


def heads(told: str) -> list[str]:
    return [line.removeprefix("## ") for line in told.splitlines() if line.startswith("## ")]


def test_the_whole_has_the_task_first_and_says_how_to_end() -> None:
    told = changes.prompt("Add a toggle", TOGGLE, checkpoint="> - half", failed=["lint: E501"])

    past = ["What was done before you", "What failed last time"]
    assert heads(told) == ["Task", "Verification Contract", *past, "Rules"]
    assert told.startswith("## Task\n\nAdd a toggle\n\n")
    assert "> lint: E501" in told
    assert "DONE: what is done" in told
    assert heads(changes.prompt("Add a toggle", None)) == ["Task", "Rules"]
    fix = changes.fix_prompt(["unit-test: 1 failed"])
    assert fix.startswith("## What failed last time\n\n> unit-test: 1 failed\n\nMend this")


@given(st.text())
def test_nothing_that_others_wrote_stands_on_a_line_of_its_own(text: str) -> None:
    lines = changes.quote(text).splitlines()

    assert all(line.startswith(">") for line in lines)
    # What is long keeps its ends, and says so.
    long = changes.quote("a" * 9_000 + "the end")
    assert len(long) < changes.MAX_QUOTED_CHARACTERS + 200
    assert "characters left out" in long
    assert long.endswith("the end")
    # Last words are one line, without what a terminal would act on.
    assert last_lines("\x1b[31mred\n\n a \nb") == "[31mred / a / b"


def test_the_owners_word_on_a_call_is_told_with_the_exact_call() -> None:
    call = ToolCall("1", "execute", {"command": "make deploy"})

    assert "> make deploy" in changes.allowed_prompt(call, "make deploy").splitlines()
    refused = changes.refused_prompt(call, "make deploy", "Not on a Friday.")
    assert "> make deploy" in refused.splitlines()
    assert refused.endswith("go on without it. The owner says: Not on a Friday.\n")
