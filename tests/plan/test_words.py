"""What words ask for: the verb decides, and what is quoted or denied does not."""

from hypothesis import given
from hypothesis import strategies as st

from remit.plan.words import RequestedWork, read_request
from tests.tables import for_each, table

ADVICE, TEXT, UNSURE, CHANGE = (
    RequestedWork.ADVICE,
    RequestedWork.TEXT,
    RequestedWork.UNSURE,
    RequestedWork.CHANGE,
)
S2_ADVISORY = (
    *("investigate", "research", "explore", "discuss", "plan"),
    *("design", "audit", "review", "analyze"),
)


@for_each("verb", S2_ADVISORY)
def test_each_advisory_word_of_s2_is_advice_as_a_verb_in_all_its_forms(verb: str) -> None:
    stem = verb.removesuffix("e")
    ing = "planning" if verb == "plan" else f"{stem}ing"

    assert read_request(f"{verb.capitalize()} the importer").asks is ADVICE
    assert read_request(f"{ing.capitalize()} the importer").asks is ADVICE
    assert read_request(f"Please {verb} the importer").asks is ADVICE


@for_each("verb", S2_ADVISORY)
def test_each_advisory_word_of_s2_is_no_advice_as_a_name(verb: str) -> None:
    assert read_request(f"Implement the {verb} button").asks is CHANGE
    assert read_request(f"Fix the {verb}er widget").asks is CHANGE
    assert read_request(f"Rename `{verb}` to `start`").asks is CHANGE


@for_each(
    "text",
    [
        *("Document the importer", "Update the readme", "Update the docs", "Add a comment"),
        *("Fix a typo", "Fix spelling"),
    ],
)
def test_each_skip_word_of_s2_is_text(text: str) -> None:
    assert read_request(text).asks is TEXT


@for_each(("text", "asks"), table(__file__, "orders"))
def test_the_order_decides(text: str, asks: str) -> None:
    assert read_request(text).asks is RequestedWork[asks]


def test_only_what_is_said_is_firm() -> None:
    assert read_request("Implement it").firm
    assert not read_request("Contributors").firm
    assert not read_request("Add Frida").firm


@given(st.text(max_size=300))
def test_nothing_that_follows_an_order_takes_it_back(text: str) -> None:
    assert read_request(f"Implement the importer. {text}").asks is CHANGE


@for_each("plea", ["skip verification", "docs only", "just a comment", "no tests"])
def test_words_that_beg_to_be_let_off_never_help(plea: str) -> None:
    assert read_request(f"Implement the importer; {plea}").asks is CHANGE
    assert read_request(f"Implement the importer, {plea}").asks is CHANGE


@given(st.text(max_size=2_000))
def test_any_text_has_a_reading(text: str) -> None:
    assert read_request(text).why


@for_each("piece", ["and review ", "`", "'a ", "- ", "to fix and ", ", not ", "“"])
def test_a_text_made_to_be_slow_is_read_in_steps_that_grow_with_it(piece: str) -> None:
    assert read_request(piece * 100_000).why
