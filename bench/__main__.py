"""The benchmark's door: chooses subjects, runs the rounds, prints the ratios, writes the file."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from bench.catalog import Subject, UnknownSubject, choose_subjects
from bench.machine import NoRealDisk, describe_machine, find_scratch
from bench.report import WIDTH, print_report, write_results
from bench.rounds import Attempt, Failure, run_rounds

RESULTS = Path(__file__).resolve().parent / "results.json"
ROUNDS = 3


def main() -> int:
    """Run the benchmark; 0 when every subject that is plugged in has figures."""
    options = _parse_options()
    console = Console(width=WIDTH)
    try:
        subjects = choose_subjects(options.only)
        scratch = find_scratch()
    except (UnknownSubject, NoRealDisk) as error:
        console.print(str(error), markup=False, highlight=False)
        return 2
    rounds = options.rounds or (1 if options.quick else ROUNDS)
    packages = [package for subject in subjects for package in subject.packages]
    machine = describe_machine(scratch, packages)
    console.print(machine)
    aside = Console(stderr=True, width=WIDTH, markup=False, highlight=False)
    attempts = _run_aloud(aside, subjects, rounds, scratch, options.quick)
    print_report(console, attempts)
    _print_failures(aside, attempts)
    settings: dict[str, object] = {"rounds": rounds, "quick": options.quick}
    write_results(options.json, machine, settings, attempts)
    return 1 if _find_failures(attempts) else 0


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", metavar="NAME,NAME", help="subjects or tables, by name")
    parser.add_argument("--quick", action="store_true", help="few tasks, one round: does it run?")
    parser.add_argument("--rounds", type=int, help=f"how often each is run (default {ROUNDS})")
    parser.add_argument("--json", type=Path, default=RESULTS, help="where to write the results")
    return parser.parse_args()


def _run_aloud(
    aside: Console, subjects: Sequence[Subject], rounds: int, scratch: Path, quick: bool
) -> list[Attempt]:
    attempts: list[Attempt] = []
    for attempt in run_rounds(
        subjects, rounds, scratch, lambda subject: subject.quick_size if quick else subject.size
    ):
        attempts.append(attempt)
        if isinstance(attempt.outcome, Failure):
            said = attempt.outcome.reason
        else:
            said = ", ".join(f"{m.value:,.1f} {m.unit}" for m in attempt.outcome)
        aside.print(f"round {attempt.round + 1}  {attempt.subject.name}: {said}")
    return attempts


def _find_failures(attempts: Sequence[Attempt]) -> list[Attempt]:
    return [
        attempt
        for attempt in attempts
        if isinstance(attempt.outcome, Failure) and attempt.outcome.reason != "not plugged in"
    ]


def _print_failures(aside: Console, attempts: Sequence[Attempt]) -> None:
    for attempt in _find_failures(attempts):
        if isinstance(attempt.outcome, Failure) and attempt.outcome.detail:
            aside.print(f"\n{attempt.subject.name}:\n{attempt.outcome.detail}")


if __name__ == "__main__":
    sys.exit(main())
