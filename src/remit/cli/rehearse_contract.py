"""`remit rehearse contract`: which contract a task would get."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

from msgspec.structs import replace

from remit import settings as house_settings
from remit.cli import clock, codes, out
from remit.cli.out import AsJson, Piece, StyledText, flag, free
from remit.errors import BadInput, NotFound
from remit.intake.admit import check_text
from remit.model.codec import Json, JsonMap
from remit.model.contract import ContractType, Criterion, Timing
from remit.model.s2 import criterion_json
from remit.plan.activities import RulesFile, load
from remit.plan.contract import ContractRequest, DraftedContract, OwedChecks, draft
from remit.plan.files import mentioned

_MOST: Final = 20_000_000  # letters of a diff
_MEANS: Final = {
    ContractType.VERIFIABLE: ("verifiable", "all of these must pass", "green"),
    ContractType.ADVISORY: ("advisory", "nothing is checked; you read what comes of it", "yellow"),
    ContractType.SKIP: ("skip", "only what always runs", "dim"),
}


def contract(  # noqa: PLR0913 - one flag a line, as they stand in the help
    description: Annotated[str, free("What is to be done; - reads it from stdin.")],
    /,
    *,
    files: Annotated[str | None, flag("Files that will change: a.py,b.md")] = None,
    diff: Annotated[str | None, flag("A file with a diff, as git writes it.")] = None,
    rules: Annotated[str | None, flag("A file of rules on top of ours: activities.yml")] = None,
    prd: Annotated[str | None, flag("A story of a document: docs/prd.md#US-1.")] = None,
    project: Annotated[str | None, flag("A project: its rules, and what its files owe.")] = None,
    prompt_for_advisory: Annotated[bool, flag("The project asks before advice.")] = False,
    json: AsJson = False,
) -> int:
    """Say how a task on code would be proven, and why; nothing is stored."""
    words = sys.stdin.read() if description == "-" else description
    check_text(words)
    named = tuple(each.strip() for each in (files or "").split(",") if each.strip())
    asked = ContractRequest(
        words.strip(),
        named,
        _read_file(diff, "diff") if diff else "",
        prd=prd is not None,
        prompt_for_advisory=prompt_for_advisory,
    )
    papers = [RulesFile(rules, _read_file(rules, "rules"))] if rules else []
    if project is not None:
        mine, owed = _project_rules(project, named or mentioned(words))
        papers, asked = [*mine, *papers], replace(asked, owed=owed)
    found = draft(asked, load(*papers), clock.now())
    if json:
        out.emit(contract_to_json(found))
    else:
        _show(found)
    return codes.WAITS if found.unsure else codes.DONE


def _project_rules(name: str, paths: Sequence[str]) -> tuple[list[RulesFile], OwedChecks]:
    """Return a project's rules on top of ours, and the debt of the files."""
    from remit.wiring import proof  # noqa: PLC0415 - only who names a project waits
    from remit.wiring.proof import papers_of  # noqa: PLC0415

    settings = house_settings.load()
    known = settings.projects
    if name not in known:
        there = ", ".join(sorted(known)) or "none; name one as [projects.NAME] in settings.toml"
        raise BadInput(f"There is no project {name!r:.60}; there is {there}.", field="project")
    owed = proof.rehearsed(settings, name, paths, clock.now())
    return papers_of(settings, known[name].path), owed


def contract_to_json(found: DraftedContract) -> JsonMap:
    """Return for programs: the type, the checks, the reason, and the question to the owner."""
    criteria: list[Json] = [criterion_json(each) for each in found.contract.criteria]
    return {
        "type": found.contract.type.value,
        "criteria": criteria,
        "why": list(found.why),
        "unsure": found.unsure,
    }


def _show(found: DraftedContract) -> None:
    name, means, style = _MEANS[found.contract.type]
    out.line(StyledText(name, style), f": {means}")
    rows: list[list[Piece]] = []
    for n, each in enumerate(found.contract.criteria, 1):
        activity, how = StyledText(each.activity, "bold"), StyledText(_when_checked(each), "dim")
        rows.append([f"{n}.", activity, each.description, how])
    out.listing(False, {}, rows)
    for why in found.why:
        out.line(StyledText("because ", "dim"), why)
    if found.notice:
        out.line(found.notice)
    if found.unsure:
        out.line(StyledText("Asks you ", "yellow"), found.unsure)


def _when_checked(criterion: Criterion) -> str:
    late = "when the group ends" if criterion.timing is Timing.DEFERRED else ""
    return "; ".join(each for each in (criterion.pattern, late) if each)


def _read_file(file: str, what: str) -> str:
    try:
        with Path(file).open(encoding="utf-8", errors="replace", newline="") as opened:
            text = opened.read(_MOST + 1)
    except FileNotFoundError:
        raise NotFound("file", file) from None
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}.", field=what) from None
    if len(text) > _MOST:
        raise BadInput(f"{file} is too long; at most {_MOST:,} letters are read.", field=what)
    return text
