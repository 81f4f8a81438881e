"""A TypeScript client that a program made of the API's description: its types, and its use.

By openapi-typescript and openapi-fetch; `make soak` installs them. A field with a default may be
left out of a request, hence `--default-non-nullable=false`.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.server.served import TOKEN, Served
from tests.soak import only_in_soak

HERE: Final = Path(__file__).parent / "typescript"
PACKAGES: Final = Path(".venv/typescript/node_modules").resolve()
OPTIONS: Final = ["--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom"]

pytestmark = only_in_soak


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("served")) as opened:
        yield opened


@pytest.fixture(scope="module")
def client(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the client in a folder that has the programs beside it."""
    assert PACKAGES.is_dir(), "openapi-typescript is missing: install npm, then run `make soak`"
    folder = tmp_path_factory.mktemp("client")
    (folder / "node_modules").symlink_to(PACKAGES)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "openapi.json").write_text(json.dumps(served.get("/openapi.json")))
    for each in HERE.glob("*.ts"):
        shutil.copy(each, folder)
    made = _run(
        folder,
        *("openapi-typescript", "openapi.json", "--output=remit.d.ts"),
        "--default-non-nullable=false",
    )
    assert made.returncode == 0, made.stdout + made.stderr
    return folder


def test_a_program_against_the_made_types_is_right_and_works(served: Served, client: Path) -> None:
    checked = _run(client, "tsc", *OPTIONS, "--outDir", "made", "order.ts")
    assert (checked.returncode, checked.stdout) == (0, "")

    ran = _run(client, shutil.which("node") or "node", "made/order.js", served.url, TOKEN)

    assert ran.returncode == 0, ran.stderr
    answer = json.loads(ran.stdout)
    assert answer == {
        "id": answer["id"],
        "status": "pending",
        "titles": ["Water the plants"],
        "problem": 404,
    }
    assert served.stored(answer["id"]).title == "Water the plants"


def test_the_made_types_find_each_mistake(client: Path) -> None:
    checked = _run(client, "tsc", *OPTIONS, "--noEmit", "mistakes.ts")

    lines = (client / "mistakes.ts").read_text().splitlines()
    mistakes = [n for n, line in enumerate(lines, 1) if re.match(r"await|export", line)]
    found = [int(n) for n in re.findall(r"^mistakes\.ts\((\d+),", checked.stdout, re.MULTILINE)]
    assert found == mistakes


def _run(folder: Path, program: str, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [program if "/" in program else PACKAGES / ".bin" / program, *words],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
