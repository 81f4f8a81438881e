"""Names of files: what a glob means, what a text mentions, what tests are called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errors import BadInput
from remit.plan.files import Globs, compile_glob, mentioned, normal, own_tests, short


def means(glob: str, path: str) -> bool:
    return Globs([compile_glob(glob)]).find(path) == (0,)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("*.py", "a.py"),
        ("*.py", "src/deep/a.py"),
        ("*.PY", "src/A.py"),
        ("Dockerfile*", "x/dockerfile.dev"),
        ("**", "a"),
        ("src/**", "src/a/b.py"),
        ("**/auth/**", "auth/a.py"),
        ("**/auth/**", "src/auth/deep/a.py"),
        ("src/**/*.ts", "src/a.ts"),
        ("src/**/x/**/*.ts", "src/x/y/x/a.ts"),
        ("a*b*c*d", "a--b--c--d"),
        (".github/workflows/**", ".github/workflows/ci.yml"),
    ],
)
def test_a_glob_means(glob: str, path: str) -> None:
    assert means(glob, path)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("*.py", "a.pyc"),
        ("src/*.py", "src/deep/a.py"),
        ("src/**", "src"),
        ("**/auth/**", "x/auth"),
        ("**/auth/**", "author/a.py"),
        ("src/**/x/**/*.ts", "src/y/a.ts"),
        ("src/**/*.ts", "lib/a.ts"),
        ("a/**/b", "a"),
        ("a*bc*bc", "abc"),
        ("a*x*c", "abc"),
        ("a*bb*bb*c", "abbbc"),
        ("src/a.py", "src/a.py/x"),
    ],
)
def test_a_glob_does_not_mean(glob: str, path: str) -> None:
    assert not means(glob, path)


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("path", "tidy"),
    [
        ("./src/a.py", "src/a.py"),
        ("docs/../src/a.py", "src/a.py"),
        ("README.md/../src/a.py", "src/a.py"),
        ("../../a.py", "a.py"),
        ("/abs/a.py", "abs/a.py"),
        ("src\\a.py", "src/a.py"),
        (" a.py ", "a.py"),
    ],
)
def test_detours_are_taken_out_of_a_path(path: str, tidy: str) -> None:
    assert normal(path) == tidy


def test_the_files_that_a_text_mentions_are_found_and_nothing_else() -> None:
    text = (
        "Fix `src/a.py`, see README.md (and docs/x.rst). Not Node.js or http://x.y/z.js nor "
        "me@example.py; use deploy/Dockerfile, and a Makefile. Version 4.17.21, e.g. that."
    )

    found = ("src/a.py", "README.md", "docs/x.rst", "deploy/Dockerfile", "Makefile")
    assert mentioned(text) == found


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("src/DarkModeToggle.tsx", "DarkModeToggle"),
        ("a/Button.test.tsx", "Button"),
        ("a/Button.spec.ts", "Button"),
        ("types/window.d.ts", "window"),
        ("pages/[id].tsx", "id"),
        ("app/settings/page.tsx", "settings"),
        ("shop/pricing.py", "pricing"),
        ("tests/test_pricing.py", "pricing"),
        ("shop/__init__.py", "shop"),
        ("shop/my-module.py", "my_module"),
        ("hooks/retry_loop.go", "RetryLoop"),
        ("hooks/retry_test.go", "Retry"),
        ("crates/clock/src/lib.rs", "clock"),
        ("src/offset.rs", "offset"),
        ("src/FooTest.java", "Foo"),
        ("spec/user_spec.rb", "user"),
        ("src/main.rs", None),
        ("index.ts", None),
    ],
)
def test_the_tests_of_a_file_are_found_by_its_name(path: str, name: str | None) -> None:
    assert own_tests(path) == name


def test_a_long_list_is_told_short() -> None:
    assert short(["b", "a", "a"]) == "a and 1 more"
    assert short(["a"]) == "a"
