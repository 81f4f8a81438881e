"""The rounds: every subject once a round, each in its own fresh process, time and place bounded."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bench.catalog import Subject
from bench.measure import Measurement

END_SECONDS = 30
ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a subject has no figures: a word for the file, the child's own words for the screen."""

    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One child that has run: a subject in a round, with its figures or its failure."""

    subject: Subject
    round: int
    outcome: list[Measurement] | Failure


def run_rounds(
    subjects: Sequence[Subject],
    rounds: int,
    scratch: Path,
    size_of: Callable[[Subject], int],
) -> Iterator[Attempt]:
    """Yield every attempt; who is absent or failed once is not asked again.

    What they write is removed at the end: for some minutes ext4 makes new files slowly where many
    were deleted, and the next subject would pay for that.
    """
    dropped: set[str] = set()
    with tempfile.TemporaryDirectory(prefix="remit-bench-", dir=scratch) as place:
        for number in range(rounds):
            for subject in _rotate(subjects, number):
                if subject.name in dropped:
                    continue
                outcome = run_subject(subject, size_of(subject), Path(place))
                if isinstance(outcome, Failure):
                    dropped.add(subject.name)
                yield Attempt(subject, number, outcome)


def _rotate(subjects: Sequence[Subject], number: int) -> Sequence[Subject]:
    # Each round begins elsewhere, so nobody always runs in the wake of the same neighbour.
    turn = number % len(subjects) if subjects else 0
    return [*subjects[turn:], *subjects[:turn]]


def run_subject(subject: Subject, size: int, scratch: Path) -> list[Measurement] | Failure:
    """Run one subject in a child of its own, inside a fresh directory."""
    if not _is_plugged(subject):
        return Failure("not plugged in")
    place = Path(tempfile.mkdtemp(dir=scratch))
    home, report = place / "home", place / "report.json"
    home.mkdir()
    command = [sys.executable, "-m", "bench.child", subject.target, str(size)]
    failure = _run_child([*command, str(home), str(report)], subject.seconds)
    content = json.loads(report.read_text()) if report.exists() else {}
    for path in home.rglob("*.db*"):
        path.unlink()  # a million tasks take two gigabytes
    if failure is not None:
        return Failure(content.get("error", failure.reason), failure.detail)
    return [Measurement(**figures) for figures in content["measurements"]]


def _is_plugged(subject: Subject) -> bool:
    module = subject.target.partition(":")[0]
    return Path(ROOT, *module.split(".")).with_suffix(".py").exists()


def _run_child(command: list[str], seconds: float) -> Failure | None:
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=_draft_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as child:
        try:
            _, words = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            _interrupt(child)
            return Failure(f"not done in {seconds:g} s")
        finally:
            # The child leads its own group; on a time-out or Ctrl-C nothing of it may stay.
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
    return Failure("ended early", words[-2000:]) if child.returncode else None


def _interrupt(child: "subprocess.Popen[str]") -> None:
    """Let it end what it started: a database server is in no group of its."""
    child.send_signal(signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        child.communicate(timeout=END_SECONDS)


def _draft_environment() -> dict[str, str]:
    # Without byte code on disk every start compiles anew, and start-up times mean nothing.
    return {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
