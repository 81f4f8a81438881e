"""Detects a file's kind by its content, and decides whether it may be sent."""

import html
import io
import re
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Final

from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
from defusedxml.ElementTree import ParseError, fromstring  # type: ignore[import-untyped]
from msgspec import Struct

from remit.files.pictures import picture_problem, svg_problem

TEXT: Final = "text/plain"
PDF: Final = "application/pdf"
ZIP: Final = "application/zip"
SVG: Final = "image/svg+xml"
UNKNOWN: Final = "application/octet-stream"
_OPEN_XML: Final = "application/vnd.openxmlformats-officedocument."
_OPEN_DOCUMENT: Final = "application/vnd.oasis.opendocument."
DOCX: Final = f"{_OPEN_XML}wordprocessingml.document"
XLSX: Final = f"{_OPEN_XML}spreadsheetml.sheet"
PPTX: Final = f"{_OPEN_XML}presentationml.presentation"
ODT, ODS, ODP = (f"{_OPEN_DOCUMENT}{kind}" for kind in ("text", "spreadsheet", "presentation"))
OFFICE: Final = frozenset({DOCX, XLSX, PPTX, ODT, ODS, ODP})
IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
PROGRAM: Final = "application/x-executable"
HTML: Final = "text/html"

MAX_NAME_BYTES: Final = 120
_DEVICE: Final = re.compile(  # of Windows, whatever stands behind the dot
    r"(?:con|prn|aux|nul|clock\$|con(?:in|out)\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])\s*(?:\..*)?",
    re.IGNORECASE,
)
_MAIN_PARTS: Final = {
    "word/document.xml": DOCX,
    "xl/workbook.xml": XLSX,
    "ppt/presentation.xml": PPTX,
}
_MAGIC: Final = (
    (b"%PDF-", PDF),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"MZ", PROGRAM),
    (b"\x7fELF", PROGRAM),
    (b"#!", PROGRAM),
    (b"\xfe\xed\xfa", PROGRAM),
    (b"\xcf\xfa\xed\xfe", PROGRAM),
    (b"\xca\xfe\xba\xbe", PROGRAM),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (b"Rar!", "application/x-rar"),
    (b"7z\xbc\xaf", "application/x-7z-compressed"),
    (b"\x1f\x8b", "application/gzip"),
)
_MARKUP: Final = re.compile(rb"<\s*(?:!doctype\s+html|html|script|iframe|\?php)", re.IGNORECASE)
_HEAD_BYTES: Final = 4096


class FileKind(Struct, frozen=True):
    """A kind that may be sent: its type, and how its names end."""

    type: str
    label: str
    ends: tuple[str, ...]


SENDABLE: Final = (
    FileKind(PDF, "PDF", ("pdf",)),
    FileKind(DOCX, "Word", ("docx",)),
    FileKind(XLSX, "Excel", ("xlsx",)),
    FileKind(PPTX, "PowerPoint", ("pptx",)),
    FileKind(ODT, "OpenDocument", ("odt",)),
    FileKind(ODS, "OpenDocument", ("ods",)),
    FileKind(ODP, "OpenDocument", ("odp",)),
    FileKind("image/png", "PNG", ("png",)),
    FileKind("image/jpeg", "JPEG", ("jpg", "jpeg")),
    FileKind("image/gif", "GIF", ("gif",)),
    FileKind("image/webp", "WebP", ("webp",)),
    FileKind(SVG, "SVG", ("svg",)),
    FileKind(ZIP, "ZIP", ("zip",)),
    FileKind("text/csv", "CSV", ("csv", "tsv")),
    FileKind("text/calendar", "calendar", ("ics",)),
    FileKind("text/vcard", "vCard", ("vcf",)),
    FileKind("application/json", "JSON", ("json",)),
    FileKind(TEXT, "text", ("txt", "md", "log", "yml", "yaml", "tex")),
)
BY_END: Final = {end: kind for kind in SENDABLE for end in kind.ends}
_TEXTS: Final = frozenset(
    {TEXT, "text/csv", "text/calendar", "text/vcard", "application/json", SVG}
)


def end_of(name: str) -> str:
    return name.rpartition(".")[2].lower() if "." in name else ""


def is_text(kind: str) -> bool:
    return kind in _TEXTS


def detect(name: str, content: bytes) -> str:
    """Return what a content is; the name only tells kinds of text apart."""
    head = content[:_HEAD_BYTES]
    found = next((kind for magic, kind in _MAGIC if head.startswith(magic)), None)
    if found is None and head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        found = "image/webp"
    if found is None and head.startswith(b"PK\x03\x04"):
        found = _zip_media_type(content)
    return found or (_text_kind(name, head) if _is_readable(content) else UNKNOWN)


def _text_kind(name: str, head: bytes) -> str:
    if _MARKUP.search(head):
        return HTML
    if re.search(rb"<svg[\s>]", head, re.IGNORECASE):
        return SVG
    named = BY_END.get(end_of(name))
    return named.type if named and named.type in _TEXTS - {SVG} else TEXT


def _zip_media_type(content: bytes) -> str:
    """Return what a ZIP archive is: a document of an office program, or an archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = set(archive.namelist())
            if "mimetype" in names and archive.getinfo("mimetype").file_size < 200:  # noqa: PLR2004
                media_type = archive.read("mimetype").decode("ascii", "replace").strip()
                return media_type if media_type in OFFICE else ZIP
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError):
        return ZIP
    return next((kind for part, kind in _MAIN_PARTS.items() if part in names), ZIP)


def _is_readable(content: bytes) -> bool:
    if b"\0" in content:
        return False
    try:
        content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return False
    return True


def name_problem(name: str) -> str | None:
    """Return why a file may not be called so, in a sentence."""
    hidden = not name.isprintable() or any(unicodedata.category(char) == "Cf" for char in name)
    ends = not name or name != name.strip(" .") or name.startswith("~")
    long = len(name.encode("utf-8", "replace")) > MAX_NAME_BYTES
    marks = (
        (ends, "is no name of a file: it is empty, or has a dot or blank at an end"),
        (
            any(sign in name for sign in '/\\|[]:*?"<>'),
            "holds a sign that no name of a file may hold",
        ),
        (hidden, "holds a hidden or control character"),
        (_DEVICE.fullmatch(name), "names a device of Windows, so it cannot be saved there"),
        (long, f"is longer than {MAX_NAME_BYTES} bytes"),
    )
    found = next((sentence for holds, sentence in marks if holds), None)
    return f"{ascii(name)[:70]} {found}." if found else None


def safe_name(name: str, otherwise: str = "file") -> str:
    """Return the name of a file that came in, so that nothing in it can lead anywhere."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    kept = "".join(char if char.isprintable() else "" for char in last)
    kept = " ".join(re.sub(r'[|\[\]:*?"<>]', "_", kept).split()).strip(" .~")
    kept = f"_{kept}" if _DEVICE.fullmatch(kept) else kept
    while len(kept.encode("utf-8", "replace")) > MAX_NAME_BYTES:
        stem, dot, end = kept.rpartition(".")
        kept = f"{stem[:-1]}{dot}{end}" if dot and len(end) <= 10 else kept[:-1]  # noqa: PLR2004
    return kept if kept and name_problem(kept) is None else otherwise


MAX_BYTES: Final = 16_000_000  # of one file
_MAX_MEMBERS: Final = 1000
_MAX_UNPACKED: Final = 100_000_000  # bytes
_MAX_RATIO: Final = 100  # unpacked to packed; office documents reach about 20
_MIN_BOMB: Final = 1_000_000  # smaller ones may be packed as well as they like
_ACTIVE_PDF: Final = re.compile(
    rb"/(?:JavaScript|JS|Launch|EmbeddedFiles?|RichMedia|XFA|SubmitForm|ImportData|GoTo[ER])"
    rb"(?![A-Za-z0-9])"
)
# Each letter of a name may be written as a number.
_PDF_OBJECTS: Final = re.compile(
    b"/" + b"".join(b"(?:%c|#%02x|#%02X)" % (char, char, char) for char in b"ObjStm")
)
_MAX_PDF_HEAD: Final = 1000  # bytes of the words before a stream
_PDF_HEX: Final = re.compile(rb"#([0-9A-Fa-f]{2})")
_PDF_HEAD: Final = re.compile(rb"[\r\n]\s*\d+\s+\d+\s+obj\s*<<([^%()]*)\Z")
_PDF_FILTER: Final = re.compile(rb"/Filter\s*(?:/FlateDecode|\[\s*/FlateDecode\s*\])\s*[/>]")
_ACTIVE_CSV: Final = re.compile(
    rb"(?im)(?:^|[,;\t])\s*\"?(?:[=+@-]|\xef\xbc[\x8b\x8d\x9d\xa0])[^,;\t\n]*(?:\||hyperlink|webservice|import\w+\(|dde)"
)
_MACRO_PART: Final = re.compile(r"(?i)vba|macrosheets|activex|\.bin$|^Basic/|^Scripts/|oleobject")
_COMMAND: Final = re.compile(r"\bDDE(?:AUTO)?\b")
_FIELD: Final = re.compile(
    r"<(?:\w+:)?instrText\b[^>]*>([^<]*)|\binstr\s*=\s*[\"']([^\"']*)|<(?:\w+:)?(ddeLink)\b"
)
_MAX_RELATIONS: Final = 1_000_000  # bytes of one list
_NEVER_INSIDE: Final = frozenset(
    (PROGRAM, "application/x-ole-storage", "application/x-rar", "application/x-7z-compressed")
)
_PROGRAMS: Final = re.compile(
    r"exe|dll|com|scr|pif|bat|cmd|ps1|vb[se]|jse?|ws[fh]|hta|jar|ms[ip]|lnk|reg|iso|img|vhd|apk|app"
    r"|dmg|sh|do[ct]m|xl[st]m|xlam|p[op]tm|ppam|x?html?"
)


def problem(name: str, content: bytes) -> str | None:
    """Return why a file may not be sent, in a sentence."""
    wrong = name_problem(name) or _size_problem(name, content)
    if wrong is not None:
        return wrong
    wanted, found = BY_END.get(end_of(name)), detect(name, content)
    if wanted is None:
        labels = ", ".join(dict.fromkeys(each.label for each in SENDABLE))
        return f"{name} is of a kind that is not sent. Sent are {labels}."
    if found != wanted.type:
        return f"{name} is no {wanted.label} by its content, but {found}."
    other = None if found in OFFICE | {ZIP} else _no_other(content)
    sentence = other or (_CHECKS[found](content) if found in _CHECKS else None)
    return f"{name} {sentence}." if sentence else None


def _size_problem(name: str, content: bytes) -> str | None:
    if not content:
        return f"{name} is empty."
    large = len(content) > MAX_BYTES
    return f"{name} has {len(content):,} bytes; at most {MAX_BYTES:,} are sent." if large else None


def _no_other(content: bytes) -> str | None:
    """Object to a file that is a second kind, too: two programs would see two files."""
    if zipfile.is_zipfile(io.BytesIO(content)):
        return "is an archive at the same time"
    if not content.startswith(b"%PDF-") and b"%PDF-" in content[:1024]:
        return "is a PDF at the same time"
    # In a picture such bytes are no text; in a text `detect` has found them at the top.
    if any(mark in content for mark in (b"Rar!\x1a\x07", b"7z\xbc\xaf\x27\x1c")):
        return "is an archive at the same time"
    marks = (b"<script", b"<html", b"<?php", b"javascript:")
    return "holds a script" if any(mark in content.lower() for mark in marks) else None


def _pdf(content: bytes) -> str | None:
    _, mark, behind = content.rpartition(b"%%EOF")
    if not mark or behind.strip(b"\0\r\n\t "):
        return "is not a whole PDF"
    packed = _pdf_objects(content)
    if packed is None:
        return "holds objects that cannot be unpacked, so it cannot be checked"
    names = _plain_names(content + packed)
    if b"/Encrypt" in names:
        return "is encrypted, so it cannot be checked"
    found = _ACTIVE_PDF.search(names)
    return f"holds something that acts ({found[0][1:].decode()})" if found else None


def _pdf_objects(content: bytes) -> bytes | None:
    """Return the objects that a PDF holds compressed; None if they cannot be unpacked."""
    unpacked = b""
    for found in _PDF_OBJECTS.finditer(content):
        start = content.find(b"stream", found.end(), found.end() + _MAX_PDF_HEAD)
        head = _PDF_HEAD.search(
            _plain_names(content[max(0, found.start() - _MAX_PDF_HEAD) : start])
        )
        if start < 0 or head is None or not _is_only_packed(head[1]):
            return None
        packed = content[start + len(b"stream") :].lstrip(b"\r\n")
        try:
            unpacked += zlib.decompressobj().decompress(packed, _MAX_UNPACKED - len(unpacked))
        except zlib.error:
            return None
        if len(unpacked) >= _MAX_UNPACKED:
            return None
    return unpacked


def _plain_names(content: bytes) -> bytes:
    return _PDF_HEX.sub(lambda found: bytes([int(found[1], 16)]), content)


def _is_only_packed(head: bytes) -> bool:
    """Whether a stream is packed once, and not rearranged before."""
    again = b"/DecodeParms" in head or b"/DP" in head or head.count(b"/Filter") != 1
    return _PDF_FILTER.search(head) is not None and not again


def _csv(content: bytes) -> str | None:
    return "holds a formula that starts something" if _ACTIVE_CSV.search(content) else None


def _archive(content: bytes) -> str | None:
    """Object to an archive that is a bomb, encrypted, no plain archive, or holds a program."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return shape_problem(archive, len(content)) or next(_members(archive), None)
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, RuntimeError, EOFError):
        return "is not a whole archive"


def shape_problem(archive: zipfile.ZipFile, size: int) -> str | None:
    """Return what is wrong with the list of an archive; nothing is unpacked."""
    listed = archive.infolist()
    unpacked = sum(each.file_size for each in listed)
    packed = sum(each.compress_size for each in listed)
    many = len(listed) > _MAX_MEMBERS or len({each.filename for each in listed}) != len(listed)
    bomb = unpacked > _MAX_UNPACKED or (unpacked > _MIN_BOMB and unpacked > _MAX_RATIO * size)
    marks = (
        (not listed or min(each.header_offset for each in listed) != 0, "has something before it"),
        (bool(archive.comment), "has something behind the archive"),
        (many, f"holds more than {_MAX_MEMBERS} files, or two of one name"),
        (bomb, f"would unpack to {unpacked:,} bytes, like an archive made to fill a disk"),
        (packed > size, "counts one content twice, like an archive made to fill a disk"),
        (any(each.flag_bits & 1 for each in listed), "is encrypted, so it cannot be checked"),
        (any(map(_leads_out, listed)), "holds a link, or a name that leads out of its folder"),
    )
    return next((sentence for holds, sentence in marks if holds), None)


def _leads_out(member: zipfile.ZipInfo) -> bool:
    name = member.filename
    away = re.match(r"[/\\]|[A-Za-z]:", name) or ".." in re.split(r"[/\\]", name)
    return bool(away) or stat.S_ISLNK(member.external_attr >> 16)


def _members(archive: zipfile.ZipFile) -> Iterator[str]:
    for each in archive.infolist():
        if each.is_dir():
            continue
        name = each.filename.rpartition("/")[2]
        if _PROGRAMS.fullmatch(end_of(name)):
            yield f"holds a program or macros ({name[:60]!a})"
        elif end_of(name) == "zip":  # one in one in one would take for ever to look at
            yield f"holds an archive itself ({name[:60]!a})"
        elif (wrong := problem(name, archive.read(each))) is not None:
            yield f"holds a file that is not sent: {wrong.rstrip('.')}"


def _office(content: bytes, *, inner: bool = False) -> str | None:
    """Object to a document with macros, programs, or parts that it fetches from elsewhere."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = (_part(name, archive.read(name), inner=inner) for name in archive.namelist())
            wrong = shape_problem(archive, len(content))
            return wrong or next(filter(None, parts), None)
    except (
        *(zipfile.BadZipFile, ValueError, OSError, NotImplementedError, RuntimeError, EOFError),
        *(zlib.error, ParseError, DefusedXmlException),
    ):
        return "is not a whole document"


def _part(name: str, raw: bytes, *, inner: bool) -> str | None:
    macros = name == "[Content_Types].xml" and b"macroenabled" in raw.lower()
    program = _PROGRAMS.fullmatch(end_of(name)) or detect(name, raw) in _NEVER_INSIDE
    if macros or program or (_MACRO_PART.search(name) and "printerSettings" not in name):
        return "holds macros or a program"
    if raw.startswith(b"PK\x03\x04"):
        return "holds documents in each other" if inner else _office(raw, inner=True)
    return _xml_part(name, raw) if name.endswith((".rels", ".xml")) else None


def _xml_part(name: str, raw: bytes) -> str | None:
    if b"\0" in raw or b"<!ENTITY" in raw or b"<!DOCTYPE" in raw:
        return "has a definition in its XML that no office program writes"
    fields = "".join(map("".join, _FIELD.findall(html.unescape(raw.decode("utf-8", "replace")))))
    if "ddeLink" in fields or _COMMAND.search(fields):
        return "holds a field that starts a program"
    remote = name.endswith(".rels") and _is_remote(raw)
    return "fetches a part of itself from elsewhere" if remote else None


def _is_remote(raw: bytes) -> bool:
    """Whether a list of parts names one elsewhere; a link that a reader may follow is none."""
    if len(raw) > _MAX_RELATIONS:
        return True
    found = [each.attrib for each in fromstring(raw, forbid_dtd=True).iter()]
    away = (each for each in found if each.get("TargetMode", "").lower() == "external")
    return any(not each.get("Type", "").endswith("/hyperlink") for each in away)


_CHECKS: Final[dict[str, Callable[[bytes], str | None]]] = {
    PDF: _pdf,
    SVG: svg_problem,
    "text/csv": _csv,
    ZIP: _archive,
    **dict.fromkeys(IMAGES, picture_problem),
    **dict.fromkeys(OFFICE, _office),
}
