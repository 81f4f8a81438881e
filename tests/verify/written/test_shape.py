"""Language, length, form, holes, padding: what can be seen without having read anything else."""

from remit.language.order_words import language_names
from remit.model.contract import Result
from remit.verify.written.phrases import language_of
from tests.tables import for_each, table
from tests.verify.written.desk import look


@for_each(("code", "sample"), table(__file__, "samples"))
async def test_a_language_is_known_by_its_letters_or_its_small_words(
    code: str, sample: str
) -> None:
    other, names = "de" if code != "de" else "en", language_names()

    right = await look("language", sample, pattern=code)
    wrong = await look("language", sample, pattern=other)

    assert language_of(sample) == code
    assert right.result is Result.PASS
    assert wrong.error == f"it is in {names[code]}, not in {names[other]}"


@for_each(("text", "pattern", "error"), table(__file__, "lengths"))
async def test_length_is_counted(text: str, pattern: str, error: str | None) -> None:
    assert (await look("length", text, pattern=pattern)).error == error


@for_each(("text", "pattern", "passes"), table(__file__, "forms"))
async def test_form_is_what_was_agreed(text: str, pattern: str, *, passes: bool) -> None:
    found = await look("form", text, pattern=pattern)

    assert (found.result is Result.PASS) is passes, found.error


HOLES = [
    *("Dear [Name],", "Dear [tenant name],", "Yours, [Ihr Name]", "Estimada {{nombre}}:"),
    *("Hi <name>!", "at XX:XX", "It costs €XX", "XXX", "am ____", "TODO: ask Ben"),
    *("Lorem ipsum dolor", "insert your address here", "hier Betrag einfügen"),
    *("As an AI language model, I cannot", "Als KI-Sprachmodell kann ich"),
    *("Como modelo de lenguaje no puedo", "${amount}"),
]


@for_each("text", HOLES)
async def test_what_was_never_filled_in_is_seen(text: str) -> None:
    found = await look("no-placeholder", text)

    assert found.result is Result.FAIL
    assert "was left in" in (found.error or "")


@for_each("text", table(__file__, "whole"))
async def test_brackets_and_capitals_are_no_holes(text: str) -> None:
    found = await look("no-placeholder", text)

    assert found.result is Result.PASS, found.error


async def test_who_asks_for_a_template_gets_one() -> None:
    template = await look("no-placeholder", "Dear [Name],", ask="Make a template for a letter")
    quoted = await look("no-placeholder", "It says [Name].", ask="What does [Name] mean?")

    assert (template.result, quoted.result) == (Result.PASS, Result.PASS)


AGAIN = "Paper bags are better for nature than plastic ones. " * 3
FILLER = (
    "It is important to note that bread matters to many. In conclusion, ovens are quite hot. "
    "Needless to say, flour comes from a mill. Our shop opens early in the morning."
)


@for_each(
    ("activity", "text", "pattern", "result", "error"),
    [
        ("no-padding", f"{AGAIN}They can be used again.", None, Result.FAIL, "is said again"),
        ("no-padding", FILLER, None, Result.FAIL, "are filler"),
        ("mentions", "Go to SANUR", "Sanur", Result.PASS, ""),
        ("mentions", "Go home", "Sanur", Result.FAIL, "'Sanur' does not occur"),
        # Of a short text nobody can be sure.
        ("language", "Sanur, Ubud, Kuta", "de", Result.SKIPPED, "too short to tell its language"),
    ],
)
async def test_what_is_said_twice_or_not_at_all_is_seen(
    activity: str, text: str, pattern: str | None, result: Result, error: str
) -> None:
    found = await look(activity, text, pattern=pattern)

    assert found.result is result
    assert error in (found.error or "")


@for_each("text", table(__file__, "no_padding"))
async def test_a_refrain_or_two_facts_in_one_wording_are_no_padding(text: str) -> None:
    found = await look("no-padding", text)

    assert found.result is Result.PASS, found.error
