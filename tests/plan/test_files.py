"""Names of files: what a glob means, what a text mentions, what tests are called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errors import BadInput
from remit.plan.files import (
    Globs,
    compile_glob,
    mentioned_files,
    normal_path,
    own_tests,
    short_list,
)
from tests.tables import for_each, table


def means(glob: str, path: str) -> bool:
    return Globs([compile_glob(glob)]).find(path) == (0,)


@for_each(("glob", "path", "expected"), table(__file__, "globs"))
def test_a_glob_means(glob: str, path: str, *, expected: bool) -> None:
    assert means(glob, path) is expected


@for_each(
    "glob", ["", "/a", "a//b", "../a", "./a", "a[b]", "{a,b}", "a?", "!a", "a\\b", "a**", "x/**b"]
)
def test_a_glob_that_means_nothing_certain_is_refused(glob: str) -> None:
    with pytest.raises(BadInput, match="glob"):
        compile_glob(glob)


_SEGMENT = st.text("ab*", min_size=1, max_size=4).filter(lambda each: "**" not in each)


@given(st.lists(_SEGMENT, min_size=1, max_size=4), st.lists(st.text("ab", min_size=1), min_size=4))
def test_a_glob_with_fixed_folders_is_matched_folder_by_folder(
    glob: list[str], path: list[str]
) -> None:
    cut = path[: len(glob)]
    whole = means("/".join(["x", *glob]), "/".join(["x", *cut]))

    assert whole == all(
        means(f"x/{one}", f"x/{other}") for one, other in zip(glob, cut, strict=True)
    )


@for_each(("path", "tidy"), table(__file__, "detours"))
def test_detours_are_taken_out_of_a_path(path: str, tidy: str) -> None:
    assert normal_path(path) == tidy


def test_the_files_that_a_text_mentions_are_found_and_nothing_else() -> None:
    text = (
        "Fix `src/a.py`, see README.md (and docs/x.rst). Not Node.js or http://x.y/z.js nor "
        "me@example.py; use deploy/Dockerfile, and a Makefile. Version 4.17.21, e.g. that."
    )

    found = ("src/a.py", "README.md", "docs/x.rst", "deploy/Dockerfile", "Makefile")
    assert mentioned_files(text) == found


@for_each(("path", "name"), table(__file__, "tests_of_files"))
def test_the_tests_of_a_file_are_found_by_its_name(path: str, name: str | None) -> None:
    assert own_tests(path) == name


def test_a_long_list_is_told_short() -> None:
    assert short_list(["b", "a", "a"]) == "a and 1 more"
    assert short_list(["a"]) == "a"
