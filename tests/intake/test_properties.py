"""Whatever is written: every character is accounted for, nothing is raised, and it ends soon."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from remit.intake.extract import extract
from remit.intake.extraction import Extraction, QuestionTopic
from remit.language.files import Phrases, language_file
from remit.language.order_words import is_laughter, language_of, order_words
from remit.language.tokens import TokenKind, tokenize
from tests.intake.labelled import BOOK, NOW, ZONE, messages
from tests.soak import examples


def as_lines(value: object) -> list[str]:
    """The lines of a list of a language's file; a switch has none."""
    return [str(each) for each in value] if isinstance(value, list) else []


KNOWN = [message.say for message in messages()]
CODES = ("en", "de", "es")
PHRASES = sorted(
    {
        phrase
        for code in CODES
        for section in ("words", "verbs", "time")
        for lines in language_file(code)[section].values()
        for line in as_lines(lines)
        for phrase in line.split(": ")[-1].split("|")
    }
)
LINKS = frozenset[str]().union(
    *(
        getattr(order_words(), name).words
        for name in ("links", "frames", "polite", "wants", "headings", "talk", "corrections")
    )
)
GLUE = st.sampled_from(
    [" ", " ", " ", ", ", ". ", "\n", "\n> ", ": ", " and ", " und ", " y ", "? ", " '", '" ']
)
PARTS = st.one_of(
    st.sampled_from(PHRASES),
    st.sampled_from([word for say in KNOWN for word in say.split()]),
    st.sampled_from(KNOWN),
)


WORDS = sorted({word for say in KNOWN for word in say.split()})
UNTIL = {"en": "until the end of March", "de": "bis Ende März", "es": "hasta fin de marzo"}
MARKS = st.sampled_from([" ", " ", " ", " ", " ", ", ", ": ", ". "])


@st.composite
def reshuffled(draw: st.DrawFn) -> str:
    """Words of all the labelled messages, in any order."""
    chosen = draw(st.lists(st.sampled_from(WORDS), max_size=14))
    return "".join(word + draw(MARKS) for word in chosen)


@st.composite
def spliced(draw: st.DrawFn) -> str:
    """The beginning of one labelled message and the end of another."""
    one, other = (draw(st.sampled_from(KNOWN)).split() for _ in range(2))
    cut, go_on = draw(st.integers(0, len(one))), draw(st.integers(0, len(other)))
    return " ".join(one[:cut] + other[go_on:])


@st.composite
def recombined(draw: st.DrawFn) -> str:
    """Known phrases in an order nobody would say."""
    parts = draw(st.lists(PARTS, max_size=10))
    return "".join(part + draw(GLUE) for part in parts)


unhurried = settings(
    deadline=None, max_examples=examples(200)
)  # how long it takes is counted below


def read(text: str) -> Extraction:
    return extract(text, now=NOW, zone=ZONE, book=BOOK)


def assert_whole(text: str, found: Extraction) -> None:
    """Each character lies in one clause or one connective; each clause has a fate or a question."""
    clauses = [(each.start, each.end) for each in found.clauses]
    spans = sorted(clauses + [(each.start, each.end) for each in found.connectives])
    assert [start for start, _ in spans] == [0, *(end for _, end in spans)][: len(spans)]
    assert (spans[-1][1] if spans else 0) == len(text)
    assert all(start < end for start, end in spans)
    asked = {question.clause for question in found.questions}
    for at, clause in enumerate(found.clauses):
        assert clause.text == text[clause.start : clause.end]
        assert clause.became or at in asked


def assert_only_links_between(text: str, found: Extraction) -> None:
    for token in tokenize(text):
        if token.kind not in (TokenKind.WORD, TokenKind.QUOTE, TokenKind.ADDRESS):
            continue
        between = any(gap.start <= token.start < gap.end for gap in found.connectives)
        assert not between or token.key in LINKS | {"x"} or is_laughter(token.key), token


@unhurried
@given(st.text(max_size=300))
def test_any_text_is_accounted_for(text: str) -> None:
    assert_whole(text, read(text))


@unhurried
@given(recombined())
def test_known_phrases_in_any_order_are_accounted_for(text: str) -> None:
    found = read(text)

    assert_whole(text, found)
    assert_only_links_between(text, found)


@settings(unhurried, max_examples=examples(500))
@given(st.one_of(reshuffled(), spliced()))
def test_the_words_of_the_labelled_messages_in_any_order_are_accounted_for(text: str) -> None:
    assert_whole(text, read(text))


@settings(unhurried, max_examples=examples(300))
@given(st.one_of(reshuffled(), spliced()))
def test_no_series_that_names_an_end_goes_on_for_ever_in_silence(text: str) -> None:
    language = language_of(tokenize(text))
    assume(language is not None and not tokenize(text)[-1].key.startswith(":"))
    found = read(f"{text} {UNTIL[language or '']}")

    for draft in found.tasks:
        rule = draft.recurrence.rule if draft.recurrence else "UNTIL"
        ends = "UNTIL" in rule or "COUNT" in rule
        assert ends or found.questions or draft is not found.tasks[-1], draft


@unhurried
@given(recombined())
def test_every_clause_of_a_task_is_one_of_the_message(text: str) -> None:
    found = read(text)

    assert all(clause in found.clauses for draft in found.tasks for clause in draft.clauses)
    assert all(0 <= question.clause < len(found.clauses) for question in found.questions)


@unhurried
@given(recombined())
def test_a_task_that_waits_for_a_time_asks_for_it(text: str) -> None:
    found = read(text)

    for draft in found.tasks:
        waits = draft.scheduled and draft.scheduled_for is None
        # Two tasks that share a time share the question about it: it stands with the first.
        asked = {question.about for question in found.questions}
        assert not waits or QuestionTopic.TIME in asked, draft


@unhurried
@given(recombined())
def test_a_task_with_nothing_to_do_asks_what(text: str) -> None:
    found = read(text)

    idle = [draft for draft in found.tasks if not (draft.work or draft.deliveries)]
    assert all(found.questions_about(draft) for draft in idle), idle


@unhurried
@given(recombined())
def test_a_text_to_somebody_is_a_piece_of_the_message(text: str) -> None:
    for draft in read(text).tasks:
        for each in draft.deliveries:
            assert each.content is None or each.recipient is None or each.content in text


@unhurried
@given(recombined())
def test_the_same_message_at_the_same_time_reads_the_same(text: str) -> None:
    assert read(text) == read(text)


LONG = [
    "research hotels in rome ",
    "a, ",
    "Remind me to x and ",
    "Monday and ",
    "'a ",
    "say 'a' ",
    "tomorrow, ",
    "if email ",
    "Send Bob the list on WhatsApp and ",
    "Tell Bob, a, ",
    "- [ ] Research x\n",
    "Remind me at 9 to x. ",
    "a.a.a.",
    "remind and a ",
    "recuérdame a las 9 y ",
    "don't send it, ",
    "every Monday until ",
    "without nuts ",
    "nicht an Bob, sondern ",
    "„",
    "1 2 3 ",
    "if it rains email ",
    "si Bob manda a ",
    "every day until ",
    "for two weeks every ",
    "schedule an email ",
    "call mum 4pm reminder ",
    "tommorow ",
    "call mum, remind me, ",
    "results by email, ",
]


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each phrase that was looked up."""
    found: list[int] = []
    look_up = Phrases.at

    def counted(self: Phrases[object], keys: tuple[str, ...], place: int) -> object:
        found.append(place)
        return look_up(self, keys, place)

    monkeypatch.setattr(Phrases, "at", counted)
    return found


@pytest.mark.parametrize("piece", LONG)
def test_twice_the_text_is_twice_the_work_and_no_more(piece: str, looks: list[int]) -> None:
    read((piece * 100)[:100])  # what is looked up once for all is no part of it
    costs = []
    for size in (4_000, 8_000):
        looks.clear()
        read(piece * (size // len(piece)))
        costs.append(len(looks))

    assert costs[1] <= 2.2 * costs[0] + 1_000


@pytest.mark.slow
def test_a_hundred_kilobytes_cost_a_bounded_number_of_looks(looks: list[int]) -> None:
    text = ("\n".join(KNOWN) * 10)[:100_000]

    assert_whole(text, read(text))
    assert len(looks) <= 60 * len(text)
