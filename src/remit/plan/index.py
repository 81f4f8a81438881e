"""Finds the globs that match a file by its name, suffix and folders.

A project has thousands of files and there are hundreds of globs, so what depends on the folder is
computed once per folder, and a name or suffix that decides alone is not matched again.
"""

from collections.abc import Iterable

from remit.plan.files import ANY, Glob

_HEAD = 3  # letters for the lookup of names like Dockerfile.dev


class GlobIndex:
    """Globs by number. Finding is a lookup; only the rest is matched."""

    def __init__(self, globs: Iterable[Glob]) -> None:
        self._globs = tuple(globs)
        self._names: dict[str, list[int]] = {}
        self._endings: dict[str, list[int]] = {}
        self._heads: dict[str, list[int]] = {}
        self._inside: dict[str, list[int]] = {}
        self._rest: list[tuple[str, int]] = []  # with letters that a name must contain
        self._sure: set[int] = set()
        self._folders: dict[str, tuple[int, ...]] = {}
        for at, glob in enumerate(self._globs):
            self._put(at, glob)

    def find(self, path: str) -> tuple[int, ...]:
        """Return the numbers of all globs that match a path, in order."""
        place, _, name = path.casefold().rpartition("/")
        inside = self._folders.get(place)
        if inside is None:
            inside = self._folders[place] = self._in(place)
        found = [*inside, *self._names.get(name, ()), *self._heads.get(name[:_HEAD], ())]
        for piece, at in self._rest:
            if piece in name:
                found.append(at)
        dot = name.rfind(".")
        if dot >= 0:
            found += self._endings.get(name[dot:], ())
        if not self._sure.issuperset(found):
            found = [at for at in found if at in self._sure or self._globs[at].matches(path)]
        return tuple(sorted(found)) if len(found) > 1 else tuple(found)

    def _in(self, place: str) -> tuple[int, ...]:
        segments = dict.fromkeys(place.split("/"))
        return tuple(at for each in segments for at in self._inside.get(each, ()))

    def _put(self, at: int, glob: Glob) -> None:
        last = glob.groups[-1][-1] if glob.groups[-1] else ""
        anywhere = glob.groups[:-1] == ((),) and len(glob.groups[-1]) == 1
        head = last.partition("*")[0]
        tail = last.rpartition("*")[2]
        if glob.inside is not None:
            self._inside.setdefault(glob.inside, []).append(at)
            self._sure.add(at)
        elif (within := _within(glob)) is not None:
            self._keep(self._inside, within, at, sure=False)
        elif last and "*" not in last:
            self._keep(self._names, last, at, sure=anywhere)
        elif len(head) >= _HEAD:
            self._keep(self._heads, head[:_HEAD], at, sure=False)
        elif "." in tail:
            ending = tail[tail.rindex(".") :]
            self._keep(self._endings, ending, at, sure=anywhere and last == f"*{ending}")
        elif glob.groups[0] and ANY not in glob.groups[0]:
            self._keep_folder(glob.groups[0][0], at)
        else:
            self._rest.append((max(last.split("*"), key=len), at))

    def _keep(self, where: dict[str, list[int]], key: str, at: int, *, sure: bool) -> None:
        where.setdefault(key, []).append(at)
        if sure:
            self._sure.add(at)

    def _keep_folder(self, top: str, at: int) -> None:
        """File `.github/workflows/**` under `.github`, the only folder where it can match."""
        if "*" in top:
            self._rest.append(("", at))
        else:
            self._inside.setdefault(top, []).append(at)


def _within(glob: Glob) -> str | None:
    """Return a folder that a path must contain, as in **/auth/**/*.tsx."""
    middle = (each for group in glob.groups[1:-1] for each in group)
    return next((each for each in middle if "*" not in each), None)
