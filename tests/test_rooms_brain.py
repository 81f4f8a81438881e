"""The rooms around the brain: a script that answers, checks on what it said, what is recalled."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from remit.brain import scripted
from remit.brain.prompt import FACTS
from remit.brain.think import NoBrain
from remit.errors import BadInput, Permanent, Transient
from remit.model.codec import Json
from remit.model.contract import (
    Contract,
    ContractType,
    Criterion,
    Evidence,
    Overall,
    Plan,
    Result,
    Timing,
)
from remit.model.reply import Ask, Prompt, Reply, ToolResult
from remit.model.status import Reason
from remit.settings import BrainSettings, Settings
from remit.testing import script
from remit.verify import Verifier
from remit.verify.written import CHECKS
from remit.wiring import opened
from tests.stage import stage

TASK = stage().memory.task
LATER = Criterion("mentions", "", "x", Timing.DEFERRED)
LATE = Plan(contract=Contract(ContractType.VERIFIABLE, (LATER,)))


async def said(brain: scripted.ScriptedBrain, prompt: str = "anything") -> Reply:
    return await brain.think(Prompt(prompt), session="ses-1")


# Scripts ------------------------------------------------------------------------------------------


async def test_the_first_entry_that_fits_answers() -> None:
    brain = script(
        [
            {"when": "Bangkok", "reply": "Lumphini", "done": [1], "seconds": 0.001},
            {"when": "visa", "ask": "Which passport?"},
            {"reply": "else"},
        ]
    )

    assert await said(brain, "to BANGKOK") == Reply("Lumphini", done=(1,))
    assert await said(brain, "a visa") == Reply("", ask=Ask(Reason.INPUT, "Which passport?"))
    assert (await said(brain)).text == "else"
    assert brain.heard == ["to BANGKOK", "a visa", "anything"]


async def test_an_entry_is_found_by_the_words_of_this_task_and_not_by_earlier_ones() -> None:
    brain = script(
        [
            {"when": "visa", "reply": "Embassy"},
            {"when": "run 3.", "reply": "On it.", "times": 1},
            {"when": "hike", "reply": "Hills", "times": 1},
            {"reply": "else"},
        ]
    )
    alike = "## Earlier tasks like this one\n- task-1, Get a visa: done"
    recalled = f"## Earlier runs of this work\n- Run 3.\n\n{alike}\n\n## {FACTS}\n- I hike."
    result = ToolResult("c", "A page about a visa.")

    async def answer(prompt: Prompt) -> str:
        return (await brain.think(replace(prompt, recalled=recalled), session="s")).text

    found = [await answer(Prompt("Find a park", rules="No visa.")) for _ in range(3)]
    assert found == ["On it.", "Hills", "else"]
    assert await answer(Prompt("Do it.\n\n| the mail: get me a VISA")) == "Embassy"
    assert await answer(Prompt("", results=(result,))) == "Embassy"
    assert "Get a visa" in brain.heard[0]


async def test_an_entry_answers_as_often_as_it_says() -> None:
    brain = script(
        [
            {"fail": "transient", "times": 2},
            {"fail": "permanent", "times": 1},
            {"reply": "at last", "times": 1},
        ]
    )

    for _ in range(2):
        with pytest.raises(Transient, match="The script says: fail"):
            await said(brain)
    with pytest.raises(Permanent, match="The script says: fail"):
        await said(brain)
    assert (await said(brain)).text == "at last"
    with pytest.raises(Permanent, match="no answer to this prompt"):
        await said(brain)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (None, "is a list of entries"),
        ([], "is a list of entries; this one is not, or is empty."),
        ({"reply": "x"}, "is a list of entries"),
        ([{"reply": "x"}, {"when": "x"}], "Entry 2 of the brain's script needs one of reply, ask"),
        ([{"reply": "x", "ask": "y"}], "Entry 1 of the brain's script needs one of"),
        ([{"fail": "maybe"}], "Entry 1 of the brain's script: fail is transient or permanent."),
        ([{"replay": "x"}], "Entry 1 of the brain's script: it has no field 'replay'."),
        ([{"reply": 5}], "reply must be text, not 5."),
        ([{"reply": "x", "times": "2"}], "times must be a whole number, not '2'."),
        (["x"], "Entry 1 of the brain's script: it must be an object"),
    ],
)
def test_a_mistake_in_a_script_is_named_with_its_entry(data: Json, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        scripted.parse(data)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    "content", [b"- reply: [", b"\xff\xfe", None, b"- !!python/object:os.x {}"]
)
def test_a_script_that_cannot_be_read_says_which(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "brain.yml"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(BadInput, match=r"brain\.yml(, line 1: it| cannot be read)"):
        scripted.load(path)


async def test_the_example_in_the_headline_is_a_script(tmp_path: Path) -> None:
    path = tmp_path / "brain.yml"
    path.write_text((scripted.__doc__ or "").partition("\n\n")[2])
    brain = scripted.load(path)

    assert "<deliverable>Lumphini Park.</deliverable>" in (await said(brain, "Bangkok")).text
    assert (await said(brain, "visa")).ask is not None
    assert (await said(brain, "other")).text == "Done."


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("none", ""),
        ("scripted", ""),
        ("oracle", "kind is 'oracle'; it may be "),
        ("scripted", "cannot be read"),
    ],
)
async def test_the_settings_say_which_brain_and_one_that_cannot_be_had_is_refused(
    tmp_path: Path, kind: str, sentence: str
) -> None:
    settings = Settings(home=tmp_path, brain=BrainSettings(kind=kind))
    if sentence:
        with pytest.raises(BadInput, match=sentence):
            async with opened(settings):
                pass
        return
    (tmp_path / "brain.yml").write_text("- reply: hi")
    async with opened(settings) as app:
        brain = app.engine._rooms.thinker._brain
        assert isinstance(brain, NoBrain if kind == "none" else scripted.ScriptedBrain)
    if isinstance(brain, NoBrain):
        reply = await brain.think(Prompt("x"), session="s")
        assert reply.ask is not None
        assert reply.ask.reason is Reason.AUTH


# Checks -------------------------------------------------------------------------------------------


async def test_a_check_that_nobody_knows_fails_and_says_which_are_known() -> None:
    contract = Contract(ContractType.VERIFIABLE, (Criterion("sorcery", ""),))
    verdict = await Verifier(CHECKS).verify(TASK, Plan(contract=contract), Evidence("x"))

    (finding,) = verdict.findings
    assert (finding.activity, verdict.passed) == ("sorcery", False)
    known = "no check of that name is installed; installed: answers, form"
    assert (finding.error or "").startswith(known)


async def test_a_deferred_criterion_is_skipped_and_the_rest_decides() -> None:
    contract = Contract(ContractType.SKIP, (LATER, Criterion("length", "", "1-9")))
    verifier = Verifier(CHECKS)
    files = Evidence("abc", workspace="/work")
    verdict = await verifier.verify(TASK, Plan(contract=contract), files)

    assert [finding.result for finding in verdict.findings] == [Result.SKIPPED, Result.PASS]
    assert verdict.passed
    assert verdict.overall is Overall.PENDING
    assert (await verifier.verify(TASK, Plan(), Evidence("abc"))).findings == ()
    # A text is merged with nothing, so nothing of it is put off.
    text = await verifier.verify(TASK, LATE, Evidence("abc"))
    assert text.overall is Overall.FAIL


async def test_what_no_tool_can_check_says_so_at_once_and_is_no_failure() -> None:
    files = Evidence("x", workspace="/work")
    lacking = Verifier(CHECKS, lacks=lambda activity: f"no tool for {activity}")

    verdict = await lacking.verify(TASK, LATE, files)

    assert verdict.overall is Overall.PASS
    assert verdict.findings == await lacking.late(TASK, [LATER], files)
    assert verdict.findings[0].error == "no tool for mentions"
    (found,) = await Verifier(CHECKS).late(TASK, [LATER], files)
    assert found.result is Result.PASS


@pytest.mark.parametrize("kind", ContractType)
def test_only_advice_goes_unchecked(kind: ContractType) -> None:
    verifier = Verifier(CHECKS)

    assert verifier.applies(Plan(contract=Contract(kind))) is (kind is not ContractType.ADVISORY)
    assert not verifier.applies(Plan())
