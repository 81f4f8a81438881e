"""Small documents, good and bad, made in memory."""

import io
import zipfile
import zlib
from collections.abc import Mapping
from typing import Final


def _chunk(kind: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4) + kind + data + zlib.crc32(kind + data).to_bytes(4)


PNG: Final = b"".join(
    (
        b"\x89PNG\r\n\x1a\n",
        _chunk(b"IHDR", b"\0\0\0\1\0\0\0\1\x08\0\0\0\0"),
        _chunk(b"IDAT", zlib.compress(b"\0\x7f")),
        _chunk(b"IEND", b""),
    )
)
GIF: Final = bytes.fromhex(
    "47494638396101000100800000000000ffffff21f90400000000002c00000000010001000002024401003b"
)
JPEG: Final = (  # one that says what it is, a scan of two pixels with a mark among them, the end
    b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0"
    b"\xff\xda\0\x08\1\1\0\0\x3f\0\x12\xff\0\x34\xff\xd0\x56\xff\xd9"
)
WEBP: Final = b"RIFF\x12\0\0\0WEBPVP8L\5\0\0\0\x2f\0\0\0\0\0"
NOTHING: Final[Mapping[str, bytes]] = {}


def pdf(text: str, catalog: str = "") -> bytes:
    """A PDF of one page."""
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    font = "/Resources << /Font << /F1 5 0 R >> >>"
    page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R {font} >>"
    objects = (
        f"<< /Type /Catalog /Pages 2 0 R {catalog} >>".encode(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        page.encode(),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )
    out, places = bytearray(b"%PDF-1.4\n"), list[int]()
    for number, each in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(out)
    return bytes(out + b"xref\n0 6\n0000000000 65535 f \n" + table + end)


def packed(parts: Mapping[str, str | bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return made.getvalue()


def docx(text: str, more: Mapping[str, str | bytes] = NOTHING) -> bytes:
    inner = f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"
    body = f'<w:document xmlns:w="u"><w:body>{inner}</w:body></w:document>'
    return packed({"[Content_Types].xml": "<Types/>", "word/document.xml": body, **more})


def xlsx(*rows: tuple[str, float]) -> bytes:
    words = "".join(f"<si><t>{name}</t></si>" for name, _ in rows)
    cells = "".join(
        f'<row><c t="s"><v>{n}</v></c><c><v>{number}</v></c></row>'
        for n, (_, number) in enumerate(rows)
    )
    return packed(
        {
            "[Content_Types].xml": "<Types/>",
            "xl/workbook.xml": "<workbook/>",
            "xl/sharedStrings.xml": f"<sst>{words}</sst>",
            "xl/worksheets/sheet1.xml": f"<sheet><sheetData>{cells}</sheetData></sheet>",
        }
    )
