"""What failed with its group, as a page: what it is about, and the two ways to answer."""

from collections.abc import Iterator
from html import unescape

import pytest
from msgspec.structs import replace

from remit.model.contract import (
    DEFERRED,
    Contract,
    ContractType,
    Criterion,
    Finding,
    Result,
    Timing,
    Verdict,
)
from remit.model.status import Actor, Status
from remit.review import ask
from remit.server.web import task_sections
from remit.store import reviews
from tests.model.examples import COMPLETED
from tests.server.served import Served
from tests.server.test_page_tasks import look
from tests.tables import for_each

LATE = Contract(
    ContractType.VERIFIABLE,
    (Criterion("lint", "Style"), Criterion("e2e", "It works", timing=Timing.DEFERRED)),
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("late")) as opened:
        yield opened


def asked(served: Served) -> tuple[str, str]:
    """A task that would mend something, and what is asked about it."""
    task = served.add("Fix e2e", context={"fixes": [str(COMPLETED.id)]})
    made, house = served.stored(task), served.house
    question = ask.fix(made, "E2e failed on main of shop, with prd.md.", "e2e: It works\nblank <b>")
    review = replace(question, id=house.ids.review())

    async def opened() -> None:
        await house.db.write(reviews.open_review, review, Actor.VERIFIER, house.clock.now())

    served.do(opened())
    return task, str(review.id)


@pytest.mark.parametrize(
    ("answer", "status"), [("approve", Status.NEW), ("decline", Status.CANCELLED)]
)
def test_what_failed_with_its_group_is_shown_and_fixed_or_left(
    served: Served, answer: str, status: Status
) -> None:
    task, review = asked(served)

    page = unescape(look(served, f"/inbox/{review}").text)
    listed = unescape(look(served, "/inbox").text)
    told = served.post(f"/api/reviews/{review}/decision", {"answer": answer})

    assert "The merged work failed a check. Fix it?" in page
    assert "E2e failed on main of shop, with prd.md." in page
    assert page.count("Have it fixed, or leave it?") == 1  # in the journal; the answers say so
    assert "blank <b>" in page
    assert "Fix it" in page
    assert "Leave it" in page
    assert f'href="/tasks/{COMPLETED.id}"' in page
    assert "Fix e2e" in listed
    assert told
    assert served.stored(task).status is status


@for_each(
    ("finding", "word", "says"),
    [
        (Finding("e2e", Result.SKIPPED, DEFERRED), "later", "When its group ends"),
        (Finding("e2e", Result.FAIL, "blank"), "failed", "blank"),
    ],
)
def test_a_task_says_what_is_checked_later_and_what_came_of_it(
    finding: Finding, word: str, says: str
) -> None:
    verdict = Verdict((Finding("lint", Result.PASS), finding))
    task = replace(COMPLETED, contract=LATE, verdict=verdict)

    table = task_sections.proof(task)

    assert table is not None
    assert (table.rows[1].word, table.rows[1].note) == (word, says)
    if finding.result is Result.FAIL:
        assert table.word == "Not verified"
        assert table.says == "What was checked when its group ended failed."
        assert task_sections.chips(task)[0].why == table.says
