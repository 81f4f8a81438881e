"""Names of files: globs, matched by RE2; files that a text mentions; the tests of a file."""

import re
from collections.abc import Iterable, Sequence
from posixpath import normpath
from typing import Final

from msgspec import Struct

from remit.errors import BadInput
from remit.model.codec import first_few
from remit.plan.priority_when import Pattern, Patterns

ANY: Final = "**"


def normal_path(path: str) -> str:
    """Return a path as globs see it: relative, with slashes, normalised."""
    if _is_tidy(path):
        return path
    tidy = normpath(path.strip().replace("\\", "/").lstrip("/"))
    while tidy.startswith("../"):
        tidy = tidy[3:]
    return tidy


def _is_tidy(path: str) -> bool:
    """Whether a path is already normalised, as nearly all are."""
    ends = path[:1] not in "/. \t\r\n" and path[-1:] not in "/ \t\r\n"
    return ends and "\\" not in path and "//" not in path and "/." not in path


def basename(path: str) -> str:
    return path.rpartition("/")[2]


def folder(path: str) -> str:
    return path.rpartition("/")[0]


class Glob(Struct, frozen=True):
    """`*` is anything but a slash, `**` any number of folders; without a slash, a name anywhere."""

    text: str
    pattern: Pattern


class Globs:
    """Many globs, matched in one pass."""

    def __init__(self, globs: Iterable[Glob]) -> None:
        self._patterns = Patterns([each.pattern for each in globs])

    def find(self, path: str) -> tuple[int, ...]:
        """The numbers of all globs that mean a path, as `normal` gives it, in any case."""
        return tuple(sorted(self._patterns.found(path.casefold())))


def compile_glob(text: str) -> Glob:
    """Parse a glob, or raise what is wrong with it."""
    wrong = next((each for each in "[]{}?!\\" if each in text), None)
    if wrong:
        raise BadInput(f"the glob {text!r:.60} has {wrong!r}; only * and ** are known")
    segments = text.casefold().split("/")
    if "" in segments or ".." in segments or "." in segments:
        raise BadInput(f"the glob {text!r:.60} must be a relative path, like src/**/*.py")
    if any(ANY in each and each != ANY for each in segments):
        raise BadInput(f"in the glob {text!r:.60} ** must stand alone between slashes")
    return Glob(text, Pattern(f"^(?s:{_regex(segments)})$", any_case=False))


def _regex(segments: Sequence[str]) -> str:
    if segments == [ANY]:
        return ".*"
    if len(segments) == 1:
        segments = [ANY, *segments]
    *before, last = segments
    way = "".join("(?:.*/)?" if each == ANY else f"{_segment(each)}/" for each in before)
    return way + (".+" if last == ANY else _segment(last))


def _segment(segment: str) -> str:
    return "[^/]*".join(map(re.escape, segment.split("*")))


# Files that a text mentions -----------------------------------------------------------------------

_PRODUCTS: Final = frozenset(
    f"{name}.js" for name in ("node", "next", "vue", "react", "three", "d3", "nuxt", "express")
)
_PLAIN: Final = frozenset({"dockerfile", "makefile", "jenkinsfile", "codeowners"})
_ENDINGS: Final = frozenset(
    word
    for words in (
        "py pyi ipynb ts tsx js jsx mjs cjs vue svelte go rs java kt cs swift rb php ex exs c h cc",
        "cpp hpp sql sh bash ps1 tf md mdx rst adoc txt json yml yaml toml ini cfg conf css scss",
        "less html proto graphql prisma lock xml gradle svg png csv",
    )
    for word in words.split()
)
_AROUND: Final = "`\"'“”„«»()[]{}<>,;:!?"


def mentioned_files(text: str) -> tuple[str, ...]:
    """Return the files a text names: paths, and names with a file suffix."""
    found = (each.lstrip(_AROUND).rstrip(f"{_AROUND}.") for each in text[:20_000].split())
    return tuple(dict.fromkeys(normal_path(each) for each in found if _is_file(each)))


def _is_file(word: str) -> bool:
    if "://" in word or "@" in word or word.casefold() in _PRODUCTS:
        return False
    stem, _, ending = basename(word).casefold().rpartition(".")
    if not stem:
        return ending in _PLAIN
    return ending in _ENDINGS


# The tests of a file ------------------------------------------------------------------------------

_HOLLOW: Final = frozenset({"__init__", "__main__", "index", "main", "mod", "lib"}) | {
    *("app", "page", "route", "layout", "conftest")
}
_TEST: Final = re.compile(r"^tests?[_-]|[_.-](?:tests?|spec)$|(?<=[a-z0-9])(?:Tests?|Spec)$")
_UNFIT: Final = re.compile(r"\W+")


def own_tests(path: str) -> str | None:
    """Return the name of a file's tests, by its language's convention; None if there is none.

    `src/DarkModeToggle.tsx` gives DarkModeToggle, `shop/__init__.py` shop, `hooks/retry.go` Retry,
    because Go capitalises test names.
    """
    stem, _, ending = basename(path).rpartition(".")
    stem = _TEST.sub("", stem.removesuffix(".d")).strip("[](){}-.")
    if stem.casefold() in _HOLLOW:
        stem = basename(folder(path))
        stem = basename(folder(folder(path))) if stem == "src" else stem
    if ending in ("py", "rs", "rb", "ex", "exs"):
        stem = _UNFIT.sub("_", stem).strip("_")
    elif ending == "go":
        stem = "".join(part[:1].upper() + part[1:] for part in _UNFIT.sub("_", stem).split("_"))
    return stem or None


def short_list(names: Iterable[str], most: int = 1) -> str:
    """A list of files for a sentence: `a.py and 3 more`."""
    return first_few(sorted(set(names)), most)
