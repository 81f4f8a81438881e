"""File names: globs without backtracking, files mentioned in a text, the tests of a file."""

import re
from collections.abc import Iterable, Sequence
from posixpath import normpath
from typing import Final

from msgspec import Struct

from remit.errors import BadInput

ANY: Final = "**"
_NAME: Final = 2  # groups of a glob that is only a name: nothing, then the name


def normal(path: str) -> str:
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
    """A glob: `*` is anything but a slash, `**` any folders; without a slash, a name anywhere.

    Matching never backtracks: each literal piece is searched once, after the previous one.
    """

    text: str
    groups: tuple[tuple[str, ...], ...]  # segments between the `**`

    def matches(self, path: str) -> bool:
        """Whether a normalised path matches; case is ignored."""
        low = path.casefold()
        if self.groups[:1] == ((),) and len(self.groups) == _NAME and len(self.groups[1]) == 1:
            return _fit(self.groups[1][0], low[low.rfind("/") + 1 :])
        parts = low.split("/")
        if len(self.groups) == 1:
            return len(parts) == len(self.groups[0]) and _fits(self.groups[0], parts, 0)
        first, *middle, last = self.groups
        at, end = len(first), len(parts) - len(last)
        if end < at or not _fits(last, parts, end) or not _fits(first, parts, 0):
            return False
        for group in middle:
            found = next((n for n in range(at, end - len(group) + 1) if _fits(group, parts, n)), -1)
            if found < 0:
                return False
            at = found + len(group)
        return last != () or end > at or self.text == ANY

    @property
    def inside(self) -> str | None:
        """Return the folder that makes it match anywhere, as in **/auth/**."""
        middle = self.groups[1:-1]
        plain = len(middle) == 1 and len(middle[0]) == 1 and "*" not in middle[0][0]
        return middle[0][0] if plain and not self.groups[0] and not self.groups[-1] else None


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
    if len(segments) == 1 and segments != [ANY]:
        segments = [ANY, *segments]
    groups: list[tuple[str, ...]] = [()]
    for segment in segments:
        if segment == ANY:
            groups.append(())
        else:
            groups[-1] = (*groups[-1], segment)
    return Glob(text, tuple(groups))


def _fits(group: Sequence[str], parts: Sequence[str], at: int) -> bool:
    for wanted in group:
        if not _fit(wanted, parts[at]):
            return False
        at += 1
    return True


def _fit(wanted: str, name: str) -> bool:
    """Match one segment: the first piece begins it, the last ends it, the others are in order."""
    if "*" not in wanted:
        return wanted == name
    first, *middle, last = wanted.split("*")
    at, end = len(first), len(name) - len(last)
    if end < at or not name.startswith(first) or not name.endswith(last):
        return False
    for piece in middle:
        found = name.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


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


def mentioned(text: str) -> tuple[str, ...]:
    """Return the files a text names: paths, and names with a file suffix."""
    found = (each.lstrip(_AROUND).rstrip(f"{_AROUND}.") for each in text[:20_000].split())
    return tuple(dict.fromkeys(normal(each) for each in found if _is_file(each)))


def _is_file(word: str) -> bool:
    if "://" in word or "@" in word or word.casefold() in _PRODUCTS:
        return False
    stem, _, ending = basename(word).casefold().rpartition(".")
    if not stem:
        return ending in _PLAIN
    return ending in _ENDINGS


# The tests of a file ------------------------------------------------------------------------------

_HOLLOW: Final = frozenset({"__init__", "__main__", "index", "main", "mod", "lib"}) | {
    *("app", "page", "route", "layout", "conftest"),
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


def short(names: Iterable[str], most: int = 1) -> str:
    """Return a list of files for a sentence: `a.py and 3 more`."""
    shown = sorted(set(names))
    more = len(shown) - most
    return ", ".join(shown[:most]) + (f" and {more} more" if more > 0 else "")
