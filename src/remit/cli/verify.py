"""`remit verify`: check whether the work in this folder meets its contract. Changes nothing."""

import asyncio
import json as jsons
import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from glob import escape
from pathlib import Path
from typing import Annotated, Final, cast

from msgspec import Struct
from msgspec.structs import replace

from remit import settings as app_settings
from remit.cli import clock, codes, out
from remit.cli.out import AsJson, StyledText, flag, number_flag
from remit.errors import BadInput
from remit.model import contract as contracts
from remit.model.codec import Json, JsonMap, first_few, from_json
from remit.model.proof import partly_verified
from remit.model.view import s3_contract, s3_results
from remit.settings.projects import ProjectSettings
from remit.store.redact import Redactor, secret_values
from remit.verify import project, project_files, verdict_lines, verdict_summary
from remit.verify.command import CommandCheck
from remit.verify.project import ACTIVITIES, ProjectCommands
from remit.verify.runners import MissingTool
from remit.verify.sandbox import Sandbox, SandboxLimits
from remit.verify.suite_runs import KEPT_RUNS, SuiteTerms, compare_with_base

_MOST: Final = 1_000_000  # characters of a contract or a diff
_STYLE: Final = {
    contracts.Result.PASS: "green",
    contracts.Result.FAIL: "red",
    contracts.Result.SKIPPED: "yellow",
}
_LATER: Final = "it is left for the end of its group; --all checks it now"
_NAMES: Final = {"generatedFrom": "generated_from", "generatedAt": "generated_at"}


def verify(  # noqa: PLR0913 - one flag a line, as they stand in the help
    *,
    contract: Annotated[
        Path | None, flag("A contract as JSON; default: drafted from the changes.")
    ] = None,
    workspace: Annotated[Path, flag("The folder to check; default: this one.")] = Path(),
    files: Annotated[list[str] | None, flag("Check as if these files had changed.")] = None,
    base: Annotated[str | None, flag("A commit whose tests and test settings are used.")] = None,
    intended: Annotated[
        list[str] | None, flag("Tests whose change is intended; they count as they are now.")
    ] = None,
    quick: Annotated[bool, flag("Only run tests that the change affects.")] = False,
    all_: Annotated[
        bool, flag("Also run the checks deferred to the end of a group.", "--all")
    ] = False,
    seconds: Annotated[int | None, number_flag("Limit per check in seconds; default: 600.")] = None,
    json: AsJson = False,
) -> int:
    """Check the work in a folder against its contract, in a sandbox."""
    where = workspace.resolve()
    if not where.is_dir():
        raise BadInput(
            f"{workspace} is no folder; name one that holds a project.", field="workspace"
        )
    commit = project_files.resolve_commit(where, base) if base is not None else None
    before = commit or _head(where)
    changed = _changed_files(where, files or [], before)
    wanted = _read_contract(contract) if contract else _draft_contract(where, changed, before)
    may_change = _check_intended_files(intended or (), changed, commit)
    also = _contract_path(contract, where)
    terms = SuiteTerms(commit, may_change, also=also, before=before, whole=not quick)
    chosen = _project(where, seconds)
    work = _Work(where, wanted, terms, chosen, changed, quiet=json, late=all_)
    verdict = asyncio.run(work.verify())
    if json:
        out.emit(_verdict_to_json(wanted, verdict))
    else:
        _tell(wanted, verdict, _changed_checks(where, terms))
    return codes.DONE if verdict.passed else codes.FAILED


class _Work(Struct, frozen=True):
    where: Path
    contract: contracts.Contract
    terms: SuiteTerms
    project: ProjectSettings
    changed: tuple[str, ...]
    quiet: bool
    late: bool  # whether deferred criteria are checked too

    async def verify(self) -> contracts.Verdict:
        ways = await asyncio.to_thread(
            project.read_commands,
            self.where,
            environ=os.environ,
            given=self.project.argvs,
            flaky=self.project.flaky,
            base=self.terms.base,
        )
        limits = SandboxLimits(seconds=self.project.time_limit, memory=self.project.memory)
        hide = Redactor(secret_values(os.environ))
        home = app_settings.load().home
        check = CommandCheck(
            ways,
            Sandbox(limits),
            _Now(),
            terms=self.terms,
            redact=hide,
            kept=home / KEPT_RUNS if home.is_dir() else None,
        )
        found: dict[int, contracts.Finding] = {}
        criteria = self.contract.criteria
        # Deferred ones are checked last, so that quick results come first.
        order = sorted(
            range(len(criteria)), key=lambda n: criteria[n].timing is contracts.Timing.DEFERRED
        )
        for number, place in enumerate(order, start=1):
            if not self.quiet:
                out.say(f"{number}/{len(criteria)} {criteria[place].activity} …")
            found[place] = await self._check_criterion(check, ways, criteria[place])
        return contracts.Verdict(tuple(found[place] for place in sorted(found)), clock.now())

    async def _check_criterion(
        self, check: CommandCheck, ways: ProjectCommands, criterion: contracts.Criterion
    ) -> contracts.Finding:
        if criterion.timing is contracts.Timing.DEFERRED:
            way = ways.command_for(criterion.activity) if criterion.activity in ACTIVITIES else None
            if isinstance(way, MissingTool):
                return contracts.Finding(criterion.activity, contracts.Result.SKIPPED, way.why)
            if not self.late:
                return contracts.Finding(
                    criterion.activity, contracts.Result.SKIPPED, contracts.DEFERRED
                )
        if criterion.activity not in ACTIVITIES:
            why = "needs the words of a task or a model, which `remit verify` does not have"
            return contracts.Finding(criterion.activity, contracts.Result.SKIPPED, why)
        owners = self.contract.generated_from is contracts.GeneratedFrom.USER
        return await check.prove(criterion, str(self.where), self.changed, demanded=owners)


class _Now:
    """The machine's time as a `Clock`."""

    now = staticmethod(clock.now)
    sleep = staticmethod(asyncio.sleep)


def _project(where: Path, seconds: int | None) -> ProjectSettings:
    """Return the settings of the project in this folder, if any."""
    known = app_settings.load().projects.values()
    mine = (each for each in known if Path(each.path).expanduser().resolve() == where)
    found = next(mine, ProjectSettings(path=str(where)))
    return replace(found, time_limit=seconds) if seconds is not None else found


def _read_contract(path: Path) -> contracts.Contract:
    """Parse a contract in S2's form: the object itself, or a task with one."""
    try:
        content = jsons.loads(path.read_text("utf-8")[:_MOST])
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise BadInput(f"{path} cannot be read as a contract: {why}.", field="contract") from None
    inner = content.get("verificationContract", content) if isinstance(content, dict) else content
    if not isinstance(inner, dict):
        sentence = (
            f'{path} holds no contract; one looks like {{"type": "verifiable", "criteria": []}}.'
        )
        raise BadInput(sentence, field="contract")
    ours = {_NAMES.get(name, name): value for name, value in inner.items()}
    try:
        contract = from_json(
            contracts.Contract,
            cast("Json", {"generated_from": contracts.GeneratedFrom.USER.value, **ours}),
        )
    except BadInput as error:
        raise BadInput(f"{path}: {error}", field="contract") from None
    if contract.type is contracts.ContractType.VERIFIABLE and not contract.criteria:
        raise BadInput(f"{path} has no criteria, so it could prove nothing.", field="contract")
    return contract


def _head(where: Path) -> str | None:
    """The last commit, with which failures are compared; None where there is none."""
    if not project_files.is_repository(where):
        return None
    with suppress(BadInput):
        return project_files.resolve_commit(where, "HEAD")
    return None


def _changed_files(where: Path, files: Sequence[str], before: str | None) -> tuple[str, ...]:
    if files or before is None:
        return tuple(files)
    return project_files.changed_files(where, project_files.files_at_commit(where, before))


def _draft_contract(
    where: Path, changed: tuple[str, ...], before: str | None
) -> contracts.Contract:
    """Return the contract for the changes since a commit; without changes, the basic one."""
    from remit.plan import activities, contract  # noqa: PLC0415 - only who has no contract waits

    if not changed:
        return _WHOLE
    diff = ""
    if before is not None:
        diff = project_files.text_diff(
            where, project_files.files_at_commit(where, before), changed, _MOST
        )
    out.say(f"Changed: {first_few(changed, 5)}.")
    asked = contract.ContractRequest(f"Change {first_few(changed, 5)}", changed, diff)
    return contract.draft_contract(asked, activities.default_activities(), clock.now()).contract


def _check_intended_files(
    named: Sequence[str], changed: Sequence[str], commit: str | None
) -> tuple[str, ...]:
    """Return the files whose change is intended; naming an unchanged one is an error."""
    if named and commit is None:
        sentence = "--intended needs --base: without it all files are used as they are now."
        raise BadInput(sentence, field="intended")
    wrong = next((each for each in named if each not in changed), None)
    if wrong is not None:
        sentence = f"{wrong} did not change since the base; changed: {first_few(changed, 5)}."
        raise BadInput(sentence, field="intended")
    return tuple(escape(each) for each in named)


def _changed_checks(where: Path, terms: SuiteTerms) -> str:
    """Return which tests and check settings were changed and count as they are."""
    if terms.base is not None or terms.before is None:
        return ""
    guard = compare_with_base(where, replace(terms, base=terms.before)).guard
    if not guard.notes:
        return ""
    return (
        f"Changed, and used as they are now: {first_few(guard.notes, 5)}. "
        "`remit verify --base HEAD` uses them as they were."
    )


def _contract_path(contract: Path | None, where: Path) -> tuple[str, ...]:
    """Return the contract's path if it lies within the work."""
    path = contract.resolve() if contract else None
    return (path.relative_to(where).as_posix(),) if path and path.is_relative_to(where) else ()


def _tell(contract: contracts.Contract, verdict: contracts.Verdict, caution: str) -> None:
    if contract.type is contracts.ContractType.ADVISORY:
        out.line(StyledText("Advisory: no check decides, so nothing is verified.", "yellow"))
        return
    for finding, text in verdict_lines(contract, verdict):
        out.line(StyledText(text, _STYLE[finding.result]))
        error = _LATER if finding.error == contracts.DEFERRED else finding.error
        for line in (error or finding.note or "").splitlines():
            out.line(f"    {line}")
        if finding.intended:
            named = " ".join(shlex.quote(each.path) for each in finding.intended)
            out.line(
                f"    As the work left its tests, they pass. Is that meant? --intended {named}"
            )
    if caution:
        out.line(StyledText(caution, "yellow"))
    partly = partly_verified(verdict)
    style = "red" if not verdict.passed else "yellow" if partly else "green"
    out.line(StyledText(verdict_summary(verdict), style))
    if partly and verdict.passed:
        out.line(StyledText(f"{partly[:1].upper()}{partly[1:]}.", style))


def _verdict_to_json(contract: contracts.Contract, verdict: contracts.Verdict) -> JsonMap:
    return {
        "verificationContract": s3_contract(contract),
        "verificationResults": s3_results(verdict),
        "tests": [
            {"activity": each.activity, "ran": each.ran, "of": each.of, "note": each.note}
            for each in verdict.findings
            if each.ran is not None
        ],
    }


_WHOLE: Final = contracts.Contract(
    contracts.ContractType.VERIFIABLE,
    (
        contracts.Criterion("typecheck", "No type errors"),
        contracts.Criterion("lint", "No lint errors"),
        contracts.Criterion("unit-test", "All tests pass"),
    ),
)
