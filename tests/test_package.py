"""The wheel and the sdist, built and installed into a fresh environment as a user would."""

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

import remit

ROOT = Path(__file__).parents[1]
LIMIT = 300  # seconds, against a hang


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    _build(ROOT, folder, "wheel", "sdist")
    return folder


def _build(source: Path, folder: Path, *targets: str) -> None:
    flags = [word for target in targets for word in ("-t", target)]
    _run(sys.executable, "-m", "hatchling", "build", *flags, "-d", str(folder), cwd=source)


def _run(*words: str, cwd: Path | None = None, **environ: str) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "TZ": "UTC", **environ}
    done = subprocess.run(
        words, cwd=cwd, env=env, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _only(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


def test_every_data_file_is_in_the_wheel_and_the_sdist_builds_the_same(
    built: Path, tmp_path: Path
) -> None:
    here = {
        f"remit/{path.relative_to(ROOT / 'src/remit').as_posix()}"
        for path in (ROOT / "src/remit").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(_only(built, "*.whl")) as wheel:
        inside = set(wheel.namelist())
    assert here <= inside, sorted(here - inside)

    with tarfile.open(_only(built, "*.tar.gz")) as sdist:
        sdist.extractall(tmp_path / "sdist", filter="data")
    _build(_only(tmp_path / "sdist", "remit-*"), tmp_path / "again", "wheel")
    with zipfile.ZipFile(_only(tmp_path / "again", "*.whl")) as wheel:
        assert set(wheel.namelist()) == inside


def test_the_installed_wheel_works(built: Path, tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    _run(sys.executable, "-m", "venv", "--without-pip", str(venv))
    python = str(venv / "bin/python")
    packages = Path(
        _run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    )
    # What it depends on comes from here. A .pth beyond a .pth is not read, so this Remit does not.
    (packages / "tested.pth").write_text(sysconfig.get_path("purelib"))
    wheel = str(_only(built, "*.whl"))
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index")
    _run(*pip, "--no-compile", "-q", wheel)
    home = tmp_path / "home"
    program = str(venv / "bin/remit")

    place = _run(python, "-c", "import remit; print(remit.__file__)").strip()
    said = _run(
        program,
        "add",
        "Greet me",
        "--text",
        "Hello.",
        "--wait",
        cwd=tmp_path,
        REMIT_HOME=str(home),
        REMIT_CALENDAR_OWN="false",
    )

    assert Path(place).is_relative_to(venv)
    assert _run(program, "--version").strip() == remit.__version__
    assert "Hello." in said


def test_the_version_stands_in_one_place_and_the_changelog_knows_it(built: Path) -> None:
    assert f"-{remit.__version__}-" in _only(built, "*.whl").name
    headings = re.findall(r"^## ([\w.]+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    released = [each for each in headings if each != "Unreleased"]
    assert released[:1] in ([], [remit.__version__])
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text()
