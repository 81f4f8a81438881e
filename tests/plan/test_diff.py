"""Diffs: which files and lines they change, whatever they pretend; and what they say."""

from hypothesis import given
from hypothesis import strategies as st

from remit.plan.diff import contains_phrase, parse_diff
from tests.tables import for_each, table

PLAIN = """\
diff --git a/src/a.py b/src/a.py
index 1..2 100644
--- a/src/a.py
+++ b/src/a.py
@@ -1,3 +1,3 @@ def f():
 same
-old
+new
 same
"""


def test_the_files_and_lines_of_a_diff_are_found() -> None:
    diff = parse_diff(PLAIN)

    assert diff.files == ("src/a.py",)
    assert list(diff.lines["src/a.py"]) == ["old", "new"]


def test_a_line_that_looks_like_the_head_of_a_file_is_still_a_line() -> None:
    diff = parse_diff(
        "--- a/q.sql\n+++ b/q.sql\n@@ -1 +1 @@\n--- a/README.md\n+++ b/README.md\n"
        "@@ -5,2 +5 @@\n same\n-gone\n"
    )

    assert diff.files == ("q.sql",)
    assert list(diff.lines["q.sql"]) == ["-- a/README.md", "++ b/README.md", "gone"]


def test_a_file_that_moved_is_both_and_one_that_went_is_known_to_be_gone() -> None:
    diff = parse_diff(
        "diff --git a/old.py b/new.py\nsimilarity index 100%\n"
        "rename from old.py\nrename to new.py\n"
        "diff --git a/dead.py b/dead.py\ndeleted file mode 100644\n--- a/dead.py\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-x\n"
    )

    assert diff.files == ("old.py", "new.py", "dead.py")
    assert diff.removed == {"dead.py"}


def test_names_with_strange_letters_spaces_and_times_are_read() -> None:
    diff = parse_diff(
        'diff --git "a/gr\\303\\274n.py" "b/gr\\303\\274n.py"\n'
        "--- a/my file.py\t2026-01-01\n+++ b/my file.py\n"
        "Binary files a/x.bin and b/x.bin differ\n\\ No newline at end of file\n"
    )

    assert diff.files == ("grün.py", "my file.py", "x.bin")


def test_a_hunk_that_ends_early_hides_nothing() -> None:
    diff = parse_diff(
        "--- a/a.md\n+++ b/a.md\n@@ -1,9 +1,9 @@\n-x\n\\ No newline\ndiff --git a/b.py b/b.py\n"
    )

    assert diff.files == ("a.md", "b.py")


def test_what_is_no_diff_is_looked_at_whole() -> None:
    assert list(parse_diff("os.system('x')\r\n").lines[""]) == ["os.system('x')"]


@for_each(("phrase", "text", "expected"), table(__file__, "phrases"))
def test_a_phrase_is_found_as_whole_words_in_one_line(
    phrase: str, text: str, *, expected: bool
) -> None:
    assert contains_phrase(phrase, text) is expected


@given(st.text(), st.text(max_size=400))
def test_any_text_is_a_diff_of_something(before: str, after: str) -> None:
    parsed = parse_diff(before + after)

    assert all(name and not name.startswith("/") for name in parsed.files)


@given(st.lists(st.sampled_from(["+x", "-y", " z", "--- a/b.md", "+++ b/b.md", "@@ -1 +1 @@"])))
def test_every_added_line_is_kept_whatever_stands_around_it(lines: list[str]) -> None:
    new = [line for line in lines if line.startswith("+")]
    body = "\n".join(f"+{line}" for line in lines)
    diff = parse_diff(f"--- a/a.py\n+++ b/a.py\n@@ -0,0 +1,{len(lines)} @@\n{body}\n")

    assert set(new) <= set(diff.lines["a.py"])
    assert diff.files == ("a.py",)
