"""Rules that somebody else would like to have: forged senders, slow patterns, hostile YAML."""

from collections.abc import Callable
from datetime import UTC

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.errors import BadInput
from remit.model.task import Source, SourceKind, Task
from remit.plan import priority_when
from remit.plan.priority import MAX_RULES, load_rules
from remit.plan.priority_when import Pattern, Patterns
from tests.plan.priority_tasks import FILE, holds, made, mail, ruled
from tests.soak import examples
from tests.tables import for_each, table

BANKS = '{banks: [bank.example, "*.giro.example", bücher.example]}'


# 23: a forged sender ------------------------------------------------------------------------------


@for_each(("sender", "counts"), table(__file__, "senders"))
def test_a_sender_counts_by_his_own_domain_and_no_other(sender: object, counts: bool) -> None:
    assert holds("sender_domain in banks", mail(sender), BANKS) is counts


def _elsewhere(kind: SourceKind) -> Task:
    """What looks like a letter, said by somebody who is not the mail door."""
    forged = {"sender": "alerts@bank.example", "sender_verified": True}
    return made("Alert", source=Source(kind, "1"), context=forged)


@for_each(
    "task",
    [
        mail("alerts@bank.example", verified=False),
        mail("alerts@bank.example", verified=None),
        mail("alerts@bank.example", verified="true"),
        mail("alerts@bank.example", verified=1),
        mail("alerts@bank.example", verified=["dmarc=pass"]),
        *(_elsewhere(kind) for kind in SourceKind if kind is not SourceKind.EMAIL),
    ],
)
def test_a_forged_sender_gets_the_default(task: Task) -> None:
    for condition in ("sender_domain in banks", "sender_domain matches /bank/"):
        assert not holds(condition, task, BANKS)
    assert holds("{not: sender_domain in banks}", task, BANKS)


# 24: slow patterns --------------------------------------------------------------------------------


@for_each("pattern", ["(a+)+$", "(.*)*x", "(x+x+)+y", "(a|aa)+$"])
def test_a_pattern_that_hangs_elsewhere_is_answered_on_a_long_text(pattern: str) -> None:
    rules = ruled(f"'objective matches /{pattern}/'")
    text = ("a" * 50_000 + "x" * 50_000) * 2 + "!"

    assert rules.find(made(text), UTC).rule is (rules.rules[0] if pattern.endswith("x") else None)


@for_each(("pattern", "why"), table(__file__, "unsafe_patterns"))
def test_a_pattern_that_is_not_safe_is_refused_with_its_line(pattern: str, why: str) -> None:
    with pytest.raises(BadInput) as refused:
        ruled("source is email", f"'objective matches /{pattern}/i'")

    assert str(refused.value).startswith(f"{FILE}, line 5: it ")
    assert why in str(refused.value)
    assert refused.value.field == "priority"


def test_an_error_without_words_is_a_sentence_still() -> None:
    assert priority_when._meaning("x", ValueError()) == "has a pattern that cannot be read: "
    assert "odd" in priority_when._meaning("x", ValueError("odd"))


PIECES = st.sampled_from(["a", "b", "^a", "b$", "a+b", ".", "[ab]{2}", "(a|b)c", "A", "ü", r"\bb"])


@settings(deadline=None, max_examples=examples(200))
@given(
    st.lists(st.tuples(PIECES, st.booleans()), max_size=8, unique=True),
    st.text("abcABü \n\udc80", max_size=12),
    st.sampled_from(["whole", "halves", "singly", "silent"]),
)
def test_however_patterns_are_grouped_the_same_ones_are_found(
    pieces: list[tuple[str, bool]], text: str, how: str
) -> None:
    patterns = [Pattern(source, any_case) for source, any_case in pieces]
    raw = text.encode("utf-8", "replace")
    alone = [
        n
        for n, each in enumerate(patterns)
        if priority_when._compile_pattern(each).search(raw) is not None
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(priority_when, "_joined", HOW[how](priority_when._joined))
        found = Patterns(patterns)
        assert sorted(found.found(text)) == sorted(found.found(text)) == alone


class _Silent:
    """A set that ran out of memory: it says nothing at all."""

    def Add(self, pattern: str) -> int:  # noqa: N802
        raise NotImplementedError(pattern)

    def Compile(self) -> None:  # noqa: N802
        raise NotImplementedError

    def Match(self, text: bytes) -> None:  # noqa: N802
        del text


Join = Callable[[list[Pattern]], object]
HOW: dict[str, Callable[[Join], Join]] = {
    "whole": lambda real: real,
    "halves": lambda real: lambda each: real(each) if len(each) < 3 else None,
    "singly": lambda _: lambda _: None,
    "silent": lambda _: lambda _: _Silent(),
}


def test_patterns_that_are_too_large_together_are_tried_in_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(priority_when, "_MEMORY_OF_ALL", 1 << 18)
    many = [f"(?:[a-z]{{{n % 50 + 1}}}q|(?:a|b){{20}}x{n})" for n in range(400)]
    found = Patterns([Pattern(each, any_case=True) for each in many])

    assert len(found._groups) > 1
    # Each says that so many letters stand before a q, and there are two.
    assert set(found.found("zzq")) == {n for n in range(400) if n % 50 + 1 <= 2}


# 25: hostile YAML ---------------------------------------------------------------------------------

RULE = "  - {name: a, when: source is email, priority: high, because: x}\n"


@for_each(
    ("text", "said"),
    [
        *table(__file__, "bad_files"),
        ("[" * 100_000, "line 1: it is nested too deep."),
        ("version: 1\nlists: {a: ['\udc80']}\n", "line 1: it is no YAML"),
        ("x" * 512_001, "line 1: it is too long; at most 512,000 letters are read."),
        ("version: 1\nrules:\n" + RULE * (MAX_RULES + 1), "has 5,001 rules; at most 5,000"),
        ("version: 1\nrules:\n" + RULE.replace(": x}", f": {'a' * 301}}}"), "longer than 300"),
    ],
)
def test_a_bad_file_is_refused_with_its_line_and_why(text: str, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        load_rules(text, FILE)

    assert str(refused.value).startswith(f"{FILE}, line ")
    assert said in str(refused.value)


@for_each(
    ("when", "said"),
    [
        *table(__file__, "meaningless"),
        # A pattern stands between strokes.
        ("objective matches invoice", "must be a pattern like /invoice/i"),
        ("objective matches /invoice", "must be a pattern like /invoice/i"),
        ("objective matches /invoice/gi", "flags 'gi'; only i is known"),
        ("sender_domain in bank", "(banks, vips)"),  # the names that there are help
    ],
)
def test_a_condition_that_means_nothing_is_refused_in_a_sentence(when: str, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        ruled("source is email", when, lists="{banks: [], vips: []}" if "bank" in when else "{}")

    assert str(refused.value).startswith(f"{FILE}, line 5: it ")
    assert said in str(refused.value)


@settings(deadline=None, max_examples=examples(150))
@given(
    st.lists(
        st.tuples(
            st.integers(0, 130),
            st.integers(0, 3),
            st.sampled_from("&*!<>[]{}:,#'\"\n\t- x\x85\ud800"),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_whatever_is_done_to_a_file_it_is_read_or_refused_in_a_sentence(
    cuts: list[tuple[int, int, str]],
) -> None:
    text = "version: 1\nlists: {a: [b.example]}\nrules:\n" + RULE + "default: low\n"
    for at, length, put in cuts:
        text = text[:at] + put + text[at + length :]

    assert _became(text).startswith(("low", f"{FILE}, line "))


def _became(text: str) -> str:
    try:
        return load_rules(text, FILE).default
    except BadInput as refused:
        return str(refused)


def test_yaml_that_says_nothing_of_where_it_is_wrong_is_told_of_the_first_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise yaml.MarkedYAMLError(problem="odd")

    monkeypatch.setattr(yaml, "parse", broken)
    assert "line 1: it is no YAML: odd" in _became("version: 1")


def test_dates_and_numbers_in_a_list_are_taken_as_they_are_written() -> None:
    rules = "{odd: [2026-03-02, 010, 1_000, 12:30]}"

    assert all(
        holds("context.x in odd", made(context={"x": said}), rules)
        for said in ("2026-03-02", "010", "1_000", "12:30")
    )
