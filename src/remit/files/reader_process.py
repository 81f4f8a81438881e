"""The process that reads one file: its bytes on stdin, its text on stdout, then it ends.

The kernel limits its time and memory; it opens no file for writing. Exit code 1: the sentence on
stdout says why there is no text.
"""

import io
import re
import resource
import sys
import zipfile
from collections.abc import Iterator
from typing import Final

from remit.files import checks

_CPU_SECONDS: Final = 15
_MEMORY_BYTES: Final = 1024 * 1024 * 1024
_MAX_PAGES: Final = 500
_MAX_CHARACTERS: Final = 1_000_000
_MAX_PART_BYTES: Final = 20_000_000
_PARAGRAPHS: Final = frozenset({"p", "h", "tr", "row", "table-row", "br", "line-break"})
_ORDER: Final = (  # what a reader would read first
    *("word/document.xml", "xl/sharedStrings.xml", "content.xml"),
    *("xl/worksheets/", "ppt/slides/slide", "word/", "ppt/notesSlides/", "docProps/"),
)


def main() -> int:
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    content, written = sys.stdin.buffer.read(checks.MAX_BYTES + 1), 0
    try:
        for piece in read(sys.argv[1], content):
            text = piece[: _MAX_CHARACTERS - written]
            written += len(text)
            sys.stdout.buffer.write(text.encode("utf-8", "replace"))
            if written >= _MAX_CHARACTERS:
                sys.stdout.buffer.write(b"\n[The rest was left out.]")
                break
    except _UnreadableError as why:
        sys.stdout.write(str(why))
        return 1
    return 0


class _UnreadableError(Exception):
    """Why there is no text."""


def read(kind: str, content: bytes) -> Iterator[str]:
    """Yield the text of a file, piece by piece."""
    if kind == checks.PDF:
        return _pdf(content)
    if kind in checks.OFFICE:
        return _office(content)
    return _archive(content)


def _pdf(content: bytes) -> Iterator[str]:
    import logging  # noqa: PLC0415 - only here

    from pypdf import PdfReader  # noqa: PLC0415 - only for a PDF
    from pypdf.errors import PyPdfError  # noqa: PLC0415

    logging.disable(logging.CRITICAL)
    try:
        reader = PdfReader(io.BytesIO(content))
        if reader.is_encrypted:
            raise _UnreadableError("it is encrypted")
        for number, page in enumerate(reader.pages):
            if number >= _MAX_PAGES:
                yield f"\n[Only the first {_MAX_PAGES} pages were read.]"
                return
            yield page.extract_text() + "\n\n"
        for name, value in (reader.metadata or {}).items():
            yield f"{name}: {value}\n"
    except (PyPdfError, ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
        raise _UnreadableError("it is no PDF that can be understood") from error


def _open_archive(content: bytes) -> zipfile.ZipFile:
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        wrong = checks.shape_problem(archive, len(content))
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise _UnreadableError("it is not whole") from error
    if wrong is not None:
        raise _UnreadableError(f"it {wrong}")
    return archive


def _office(content: bytes) -> Iterator[str]:
    archive = _open_archive(content)
    names = [name for name in archive.namelist() if name.endswith(".xml")]
    strings: list[str] = []
    for name in sorted(names, key=_rank):
        if name == "xl/sharedStrings.xml":
            strings = [each.strip() for each in _texts(_part(archive, name), "si")]
            continue
        text = "".join(_texts(_part(archive, name), "", strings))
        if text.strip():
            yield re.sub(r"\n{3,}", "\n\n", text).strip() + "\n\n"
    yield "\n".join(strings) if not any(name.startswith("xl/worksheets/") for name in names) else ""


def _rank(name: str) -> tuple[int, str]:
    return next((n for n, start in enumerate(_ORDER) if name.startswith(start)), 99), name


def _part(archive: zipfile.ZipFile, name: str) -> bytes:
    with archive.open(name) as part:
        raw = part.read(_MAX_PART_BYTES + 1)
    if len(raw) > _MAX_PART_BYTES:
        raise _UnreadableError("a part of it is too large")
    return raw


def _texts(raw: bytes, item: str, strings: list[str] | None = None) -> Iterator[str]:
    """Yield the text of an XML part; with `item` one text for each element of that name.

    A cell of a sheet that refers to a shared string gets its text.
    """
    from defusedxml import DefusedXmlException  # type: ignore[import-untyped] # noqa: PLC0415
    from defusedxml.ElementTree import ParseError, iterparse  # type: ignore[import-untyped] # noqa: PLC0415

    words = list[str]()
    try:
        for _, element in iterparse(io.BytesIO(raw), events=("end",)):
            name = element.tag.rpartition("}")[2]
            if name == "c" and element.get("t") == "s" and strings:
                words = [*filter(None, words)]
                words[-1:] = [_shared_string(each, strings) for each in words[-1:]]
            elif element.text and element.text.strip():
                words.append(element.text + ("\t" if name == "v" else ""))
            tail = element.tail if (element.tail or "").strip() else ""
            words.append(("\n" if name in _PARAGRAPHS else "") + tail)
            if item and name == item:
                yield "".join(words)
                words = []
            element.clear()
    except (ParseError, DefusedXmlException) as error:
        raise _UnreadableError("its XML is broken") from error
    if not item:
        yield "".join(words)


def _shared_string(number: str, strings: list[str]) -> str:
    """Return the text of a cell that names a shared string by its number."""
    at = int(number) if number.strip().isdecimal() else len(strings)
    return f"{strings[at]}\t" if at < len(strings) else number


def _archive(content: bytes) -> Iterator[str]:
    """Yield the names in an archive, and the texts of what can be read."""
    archive = _open_archive(content)
    for each in archive.infolist():
        if each.is_dir():
            continue
        yield f"=== {each.filename}\n"
        raw = _part(archive, each.filename)
        kind = checks.detect(each.filename, raw)
        if checks.is_text(kind) or kind == checks.HTML:
            yield raw.decode("utf-8-sig", "replace") + "\n"
        elif kind == checks.PDF or kind in checks.OFFICE:
            yield from read(kind, raw)


if __name__ == "__main__":
    sys.exit(main())
