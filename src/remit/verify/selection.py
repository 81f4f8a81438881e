"""Which test files a change concerns: those that import it, directly or not.

Imports are read from the text without parsing: a line that only looks like an import selects a test
too many, never one too few. Python and JavaScript use the import graph; other languages use folder
and name. A change that no test file imports concerns all of them.
"""

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from remit.model.codec import first_few
from remit.model.contract import is_test

_MIN_FILES: Final = 6  # with fewer test files all run at once
_MAX_BYTES: Final = 1_000_000  # bytes of a file read for its imports
SCRIPTS: Final = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte")
_PYTHON_IMPORT: Final = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]*(\([^)]*\)|[^\n\\]*(?:\\\n[^\n\\]*)*)"
    r"|import[ \t]+([^\n;#]+))",
    re.MULTILINE,
)
_SCRIPT_IMPORT: Final = re.compile(
    r"""(?:\bfrom|\bimport|\brequire|\bmock)\s*\(?\s*['"](\.[^'"\n]*)['"]"""
)
_WORD: Final = re.compile(r"[A-Za-z_]\w*|\*")


class Selection(Struct, frozen=True):
    """The test files to run first; empty: all."""

    files: tuple[str, ...] = ()
    of: int = 0  # number of test files
    why: str = ""  # which ones, or why all

    @property
    def sentence(self) -> str:
        return f"{len(self.files)} of {self.of} test files, {self.why}"

    @property
    def why_all(self) -> str:
        """Why all tests ran; empty if some are chosen."""
        return "" if self.files else self.why


def select(
    names: Collection[str],
    read: Callable[[str], str],
    changed: Collection[str],
    concerns: Callable[[str], bool] = lambda _: True,
) -> Selection:
    """Choose test files by what changed; `read` returns a file's text.

    `concerns` says which of them the runner runs.
    """
    tests = [name for name in names if is_test(name) and _is_runnable(name) and concerns(name)]
    known = frozenset(names)
    touched = [name for name in changed if name in known]
    if len(touched) < len(changed):
        return Selection((), len(tests), "A file was removed, so all tests ran.")
    graph = _Graph(names, read)
    reached = graph.users_of(touched)
    chosen = tuple(sorted(name for name in tests if name in reached))
    code = [name for name in touched if _has_imports(name) and not is_test(name)]
    about = first_few([posixpath.basename(name) for name in code or touched], 3)
    if tests and not chosen:
        return Selection((), len(tests), f"No test file imports {about}, so all tests ran.")
    if len(tests) < _MIN_FILES:
        return Selection((), len(tests))
    if 2 * len(chosen) > len(tests):
        why = f"{len(chosen)} of {len(tests)} test files import {about}, so all tests ran."
        return Selection((), len(tests), why)
    return Selection(chosen, len(tests), f"those that import {about}")


def _is_runnable(name: str) -> bool:
    """Whether a test file is run itself, and is no data or helper."""
    stem = posixpath.basename(name)
    if name.endswith(".py"):
        return stem.startswith("test") or stem.endswith("_test.py")
    return name.endswith((*SCRIPTS, ".go", ".rs"))


class _Graph:
    """Which file uses which, by their text."""

    def __init__(self, names: Collection[str], read: Callable[[str], str]) -> None:
        self._names = frozenset(names)
        self._read = read
        self._modules = _modules(self._names)
        self._tops = {dotted.partition(".")[0] for dotted in self._modules}
        self._exports: dict[str, Mapping[str, str]] = {}
        self._users: dict[str, set[str]] = defaultdict(set)
        self._fill()

    def users_of(self, changed: Iterable[str]) -> set[str]:
        """Return the files that use these, directly or not, and these themselves."""
        found, left = set[str](), list(changed)
        while left:
            name = left.pop()
            if name not in found:
                found.add(name)
                left += self._users[name] - found
        return found

    def _fill(self) -> None:
        texts = {name: self._read(name)[:_MAX_BYTES] for name in self._names if _has_imports(name)}
        inits = {name for name in texts if name.endswith("/__init__.py")}
        for name in inits:
            self._exports[name] = dict(self._exported_names(name, texts[name]))
        for name, text in texts.items():
            for used in self._uses(name, text):
                if used != name:
                    self._users[used].add(name)
        self._add_implicit_uses(texts)

    def _add_implicit_uses(self, texts: Mapping[str, str]) -> None:
        """Add uses without an import: conftest.py by all below it, Go files by folder."""
        conftests = [name for name in texts if posixpath.basename(name) == "conftest.py"]
        for test in (name for name in texts if is_test(name)):
            for conftest in conftests:
                folder = conftest.removesuffix("conftest.py")
                if test.startswith(folder):
                    self._users[conftest].add(test)
        packages = defaultdict(list)
        for name in self._names:
            if name.endswith(".go"):
                packages[posixpath.dirname(name)].append(name)
        for files in packages.values():
            for name in files:
                self._users[name].update(each for each in files if is_test(each))

    def _uses(self, name: str, text: str) -> Iterator[str]:
        if not name.endswith(".py"):
            folder = posixpath.dirname(name)
            for found in _SCRIPT_IMPORT.findall(text):
                yield from self._script(posixpath.normpath(posixpath.join(folder, found)))
            return
        for dots, module, wanted, plain in _PYTHON_IMPORT.findall(text):
            if plain:
                yield from self._plainly(plain, text)
            else:
                source = _absolute(name, len(dots), module)
                yield from self._module(source, _imported_names(wanted))

    def _plainly(self, plain: str, text: str) -> Iterator[str]:
        """Yield the project's files that `import a, b.c as d` means."""
        for words in (part.split() for part in plain.split(",")):
            top = words[0].partition(".")[0] if words else ""
            if top in self._tops:
                yield from self._module(words[0], _used_names(words, text))

    def _module(self, module: str, wanted: Collection[str]) -> Iterator[str]:
        """Yield the files that an import of names from a module means."""
        for file in self._modules.get(module, ()):
            exports = self._exports.get(file)
            # A re-exported name is used from where it is defined.
            named = [exports[each] for each in wanted if each in exports] if exports else []
            rest = [each for each in wanted if not exports or each not in exports]
            below = [self._modules.get(f"{module}.{each}", ()) for each in rest]
            yield from named
            yield from (found for each in below for found in each)
            if exports is None or not wanted or "*" in wanted or not all(below):
                yield file
        parent = module.rpartition(".")[0]
        if parent and module not in self._modules:  # `import a.b.name`
            yield from self._modules.get(parent, ())

    def _exported_names(self, name: str, text: str) -> Iterator[tuple[str, str]]:
        """Yield the names a package re-exports, and their files."""
        for dots, module, wanted, plain in _PYTHON_IMPORT.findall(text):
            if plain or not dots:
                continue
            source = _absolute(name, len(dots), module)
            for each, called in _imported_names(wanted).items():
                made = self._modules.get(f"{source}.{each}") or self._modules.get(source)
                yield from ((called, file) for file in made or () if file != name)

    def _script(self, path: str) -> Iterator[str]:
        stem = posixpath.splitext(path)[0]
        ends = ("", *SCRIPTS, *(f"/index{end}" for end in SCRIPTS))
        names = (*(f"{path}{end}" for end in ends), *(f"{stem}{end}" for end in SCRIPTS))
        yield from (each for each in names if each.lstrip("/") in self._names)
        if path in (".", ""):
            yield from (f"index{end}" for end in SCRIPTS if f"index{end}" in self._names)


def _modules(names: Collection[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the files a dotted name may mean: from the top, its package, or a folder."""
    found: dict[str, list[str]] = defaultdict(list)
    packages = {posixpath.dirname(name) for name in names if name.endswith("/__init__.py")}
    for name in names:
        if not name.endswith((".py", ".pyi")):
            continue
        parts = posixpath.splitext(name)[0].split("/")
        if parts[-1] == "__init__":
            parts.pop()
        starts = {0, _package_start(parts, packages), *(range(1, 2) if len(parts) > 1 else ())}
        for start in starts:
            dotted = ".".join(parts[start:])
            if dotted:
                found[dotted].append(name)
    return {dotted: tuple(files) for dotted, files in found.items()}


def _package_start(parts: Sequence[str], packages: Collection[str]) -> int:
    start = len(parts) - 1
    while start > 0 and "/".join(parts[:start]) in packages:
        start -= 1
    return start


def _absolute(name: str, dots: int, module: str) -> str:
    """Return the absolute dotted name of a relative import."""
    if not dots:
        return module
    folder = posixpath.dirname(name).split("/")
    above = folder[: len(folder) - dots + 1]
    return ".".join(filter(None, (*above, module)))


def _imported_names(wanted: str) -> dict[str, str]:
    """Return the names after `import`, and their aliases."""
    bare = re.sub(r"#[^\n]*|[()\\]", " ", wanted)
    parts = (_WORD.findall(part) for part in bare.split(","))
    return {words[0]: words[-1] for words in parts if words}


def _used_names(words: Sequence[str], text: str) -> list[str]:
    """Which names of a plainly imported package a file uses; none named: all of it."""
    module = words[-1] if "as" in words else words[0]
    if "." in module:
        return []
    found = re.findall(rf"(?<![\w.]){re.escape(module)}\b(?:\.(\w+))?", text)
    used = {each for each in found if each}
    bare = sum(not each for each in found)
    imports = len(re.findall(rf"import[^\n]*\b{re.escape(module)}\b", text))
    return sorted(used) if bare <= imports else []


def _has_imports(name: str) -> bool:
    return name.endswith((".py", *SCRIPTS))
