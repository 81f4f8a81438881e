"""The lines by which a message names files: exact, at its end, and back again."""

from hypothesis import given
from hypothesis import strategies as st

from remit.model.codec import Json
from remit.model.task_file import (
    ATTACHMENTS,
    TaskFile,
    asked_path,
    files_in,
    frozen_file,
    has_files,
    is_frozen,
    join_body,
    split_body,
    split_lines,
    to_context,
)
from tests.tables import for_each

FILE = TaskFile("a b.csv", "text/csv", 22, "ab" * 32, made=True)
names = st.text(alphabet="abü .-", min_size=1).filter(lambda name: name.strip() == name)


@given(st.text(), st.lists(names, max_size=3))
def test_a_body_is_its_words_and_its_files(words: str, named: list[str]) -> None:
    files = tuple(TaskFile(name, "text/csv", 1, "ab" * 32, made=True) for name in named)
    if has_files(words):
        return
    said, found = split_body(join_body(words, files))

    assert found == files
    assert said.rstrip("\n") == words.rstrip("\n")


@for_each(
    "line",
    [
        "[file: a.csv|text/csv|22 bytes]",
        f"[file: a.csv | text/csv | x bytes | sha256 {'ab' * 32}]",
        f"see [file: a.csv | text/csv | 22 bytes | sha256 {'ab' * 32}]",
        "[files: a.csv]",
    ],
)
def test_only_the_exact_form_is_a_frozen_file(line: str) -> None:
    assert frozen_file(line) is None
    assert split_body(f"Words.\n\n{line}") == (f"Words.\n\n{line}", ())


def test_lines_are_found_in_any_spelling_and_taken_in_one_alone() -> None:
    text = "Words.\n [FILE: a.csv]\n[file: b.csv]\n[ file:c.csv\nMore."
    words, lines = split_lines(text)

    assert words.split() == ["Words.", "More."]
    assert lines == ["[FILE: a.csv]", "[file: b.csv]", "[ file:c.csv"]
    assert [asked_path(each) for each in lines] == [None, "b.csv", None]
    assert (is_frozen(text), is_frozen(f"x\n{FILE.line}"), is_frozen("x")) == (False, True, True)
    assert split_lines("Words.") == ("Words.", [])


def test_what_came_in_is_read_from_a_context_and_nothing_else() -> None:
    came = TaskFile("a.csv", "text/csv", 22, "ab" * 32, taint="contact")
    listed: list[Json] = [
        to_context(came),
        {"name": "b", "type": "x", "why": "too large"},
        "c",
        None,
    ]

    assert files_in({ATTACHMENTS: listed}) == (came,)
    assert files_in({ATTACHMENTS: "a"}) == files_in({}) == ()
    bare = {key: value for key, value in to_context(came).items() if key != "taint"}
    assert files_in({ATTACHMENTS: [bare]})[0].taint == "public"


def test_a_size_is_told_as_people_say_it() -> None:
    sizes = [TaskFile("a", "b", size, "c").size_text for size in (999, 1500, 2_500_000)]

    assert sizes == ["999 bytes", "2 KB", "2.5 MB"]
