"""Work on projects as pages: the diff, who tried what, the contract, and what failed later."""

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from msgspec.structs import replace

from remit.model.codec import JsonMap
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
from remit.review import fix
from remit.server.web import markup, task_sections
from remit.settings import load
from remit.store import reviews
from tests.model.examples import COMPLETED
from tests.server import workshop
from tests.server.served import Served
from tests.specialist.repository import git
from tests.tables import for_each

DIFF = """\
diff --git a/a.py b/a.py
index 1..2 100644
--- a/a.py
+++ b/a.py
@@ -1,3 +1,3 @@ def f():
 same
--- not a head
+++ no head either
 <script>alert(1)</script>
diff --git a/old.bin b/new.bin
rename from old.bin
rename to new.bin
Binary files differ
diff --git a/b.txt b/b.txt
new file mode 100644
--- /dev/null
+++ b/b.txt
@@ -0,0 +1 @@
+last
\\ No newline at end of file
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("work")
    home = folder / "home"
    home.mkdir()
    (home / "settings.toml").write_text(workshop.settings(folder))
    with Served(home, works=True, settings=load({"REMIT_HOME": str(home)})) as opened:
        yield opened


def ordered(served: Served, text: str, project: str) -> tuple[str, str]:
    """A task that was worked on till it rests, and what it asks."""
    task = served.add(text, project=project, files=["shop/price.py"])
    served.settle()
    asked = served.get(f"/api/tasks/{task}")["reviews"]
    assert isinstance(asked, list)
    waiting = [each for each in asked if isinstance(each, dict) and each["decision"] is None]
    return task, str(waiting[0]["id"]) if waiting else ""


def text_of(page: str) -> str:
    """What a reader sees of it."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


# Diffs --------------------------------------------------------------------------------------------


def test_a_diff_is_read_by_its_hunks_and_not_by_how_lines_look() -> None:
    found = markup.read_patch(DIFF)

    assert found is not None
    one, moved, new = found.files
    assert (one.path, one.added, one.removed) == ("a.py", 1, 1)
    assert [each.kind for each in one.lines] == ["hunk", "same", "del", "ins", "same"]
    assert one.lines[2].text == "-- not a head"
    assert (moved.path, moved.word, moved.lines) == ("new.bin", "binary", ())
    assert (new.word, new.added, found.cut) == ("new", 1, False)


def test_what_is_no_diff_is_none() -> None:
    assert markup.read_patch("just words") is None
    assert markup.read_patch("") is None


def test_a_long_diff_is_cut_and_says_so() -> None:
    many = markup.MOST_OF_FILE + 100
    body = "".join(f"+line {n} {'x' * 500}\n" for n in range(many))
    head = "diff --git a/long.txt b/long.txt\n--- /dev/null\n+++ b/long.txt\n"
    whole = markup.read_patch(f"{head}@@ -0,0 +1,{many} @@\n{body}")
    broken = markup.read_patch(f"{head}@@ -0,0 +1,{many} @@\n+only this\n")

    assert whole is not None
    assert broken is not None
    (file,) = whole.files
    assert (len(file.lines), file.left, file.added) == (markup.MOST_OF_FILE, 101, many)
    assert all(len(each.text) <= markup.LONGEST + 1 for each in file.lines)
    assert (whole.cut, broken.cut) == (True, True)


def test_many_files_share_the_room_there_is() -> None:
    one = "diff --git a/{n} b/{n}\n--- a/{n}\n+++ b/{n}\n@@ -0,0 +1,700 @@\n" + "+x\n" * 700
    found = markup.read_patch("".join(one.format(n=n) for n in range(9)))

    assert found is not None
    assert sum(len(each.lines) for each in found.files) == markup.MOST_LINES
    assert (len(found.files), found.cut, found.files[-1].lines) == (9, True, ())


# Pages --------------------------------------------------------------------------------------------


def test_a_merge_shows_what_was_changed_and_is_done_once_it_is_approved(served: Served) -> None:
    task, review = ordered(served, workshop.ADD, "shop")
    page = served.look(f"/inbox/{review}").text
    shown = served.look(f"/tasks/{task}").text
    digest = re.search(r'name="digest" value="(\w+)"', page)
    assert digest
    done = served.submit(f"/inbox/{review}", f"answer=approve&digest={digest[1]}")
    served.settle()

    assert "Merge this into your folder?" in page
    assert "2 files changed" in page
    assert "<summary>" in page.split('class="pfile"')[1]
    assert "<ins>def written(cents: int, currency: str = &#34;EUR&#34;) -&gt; str:</ins>" in page
    assert "<del>def written(cents: int) -&gt; str:</del>" in page
    assert "Leave on branch" in page
    assert "claude" in text_of(page)
    told = text_of(shown)
    assert "Who tried 3 tries" in told
    assert "claude Did not pass (unit-test) unit-test: sh ended with exit code 1:" in told
    assert "codex Did it" in told
    assert "Unit test Tests for price.py price" in told
    assert "3 tries" in told
    assert "Project shop" in told
    assert done.status_code in (200, 303)
    assert served.stored(task).status.value == "completed"
    repo = Path(served.app.settings.projects["shop"].path)
    assert "currency" in git(repo, "show", "HEAD:shop/price.py")


def test_what_nobody_proved_shows_who_tried_and_is_taken_only_with_a_reason(
    served: Served,
) -> None:
    task, review = ordered(served, workshop.STUCK, "shed")
    page = served.look(f"/inbox/{review}").text
    digest = re.search(r'name="digest" value="(\w+)"', page)
    assert digest
    bare = served.submit(f"/inbox/{review}", f"answer=drop&digest={digest[1]}")
    served.submit(f"/inbox/{review}", f"answer=drop&text=Good+enough&digest={digest[1]}")
    served.settle()
    asked = served.get(f"/api/tasks/{task}")["reviews"]
    assert isinstance(asked, list)
    merge = next(each for each in asked if isinstance(each, dict) and each["decision"] is None)
    served.post(f"/api/reviews/{merge['id']}/decision", {"answer": "approve"})
    served.settle()
    shown, listed = served.look(f"/tasks/{task}").text, served.look("/tasks").text

    told = text_of(page)
    assert "All attempts failed. What now?" in told
    assert "gemini Did not pass (unit-test)" in told
    for word in ("Try again", "I did it myself", "Accept without proof"):
        assert word in told
    assert 'name="text" rows="3" maxlength="100000" required' in page
    assert '<details class="menu up" id="act-back"' in page  # to try again needs a word
    assert bare.status_code == 422
    assert "Not verified" in text_of(shown)
    assert "You took it although its checks did not pass." in text_of(shown)
    row = listed[listed.index(f'id="row-{task}"') :].partition("</tr>")[0]
    assert "Not verified" in row


def test_advice_is_labelled_wherever_it_is_read(served: Served) -> None:
    task = served.add(workshop.ADVICE, project="notes")
    served.settle()
    shown, inbox = text_of(served.look(f"/tasks/{task}").text), served.look("/inbox").text

    assert "Advisory, not verified" in shown
    assert "Not verified, for you to judge" in shown
    assert "Not verified: no check can prove advice." in shown
    row = inbox[inbox.index(f"/inbox/{task}") :].partition("</li>")[0]
    assert "Not verified" in row


def test_a_diff_that_holds_markup_is_only_text(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.toml").write_text(workshop.settings(tmp_path))
    hostile = "<script>alert(1)</script>\n</div><img src=x onerror=alert(1)>\n"
    turn: JsonMap = {"write": {"shop/<b>x<!--.md": hostile}, "say": "<script>alert(2)</script>"}
    (tmp_path / "claude.json").write_text(json.dumps(turn))
    with Served(home, works=True, settings=load({"REMIT_HOME": str(home)})) as served:
        task, review = ordered(served, workshop.ADD, "shop")
        pages = [served.look(at).text for at in (f"/inbox/{review}", f"/tasks/{task}")]

    assert "<ins>&lt;script&gt;alert(1)&lt;/script&gt;</ins>" in pages[0]
    for page in pages:
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "<b>x" not in page


# Settings and state -------------------------------------------------------------------------------


def test_the_settings_show_projects_and_specialists_and_no_path(served: Served) -> None:
    page = served.look("/settings/projects").text
    told = text_of(page)

    assert "shop Ready Change Worked on by claude, codex" in told
    assert "claude Ready A command, 1800 s for a try" in told
    assert "unit-test sh -c" in told
    assert str(served.app.settings.home.parent) not in page


def test_the_state_of_a_task_is_told_as_s2_has_it(served: Served) -> None:
    task = served.add(workshop.ADVICE, project="notes")
    served.settle()
    state: JsonMap = served.get(f"/api/tasks/{task}/builder-state")

    found = state["advisoryTasks"]
    assert isinstance(found, list)
    (advice,) = found
    assert isinstance(advice, dict)
    assert (advice["taskId"], advice["output"]) == (task, workshop.FOUND)


# What failed with its group -----------------------------------------------------------------------


LATE = Contract(
    ContractType.VERIFIABLE,
    (Criterion("lint", "Style"), Criterion("e2e", "It works", timing=Timing.DEFERRED)),
)


def asked(fresh: Served) -> tuple[str, str]:
    """A task that would mend something, and what is asked about it."""
    task = fresh.add("Fix e2e", context={"fixes": [str(COMPLETED.id)]})
    made, app = fresh.stored(task), fresh.app
    question = fix(made, "E2e failed on main of shop, with prd.md.", "e2e: It works\nblank <b>")
    review = replace(question, id=app.ids.review())

    fresh.write(reviews.open_review, review, Actor.VERIFIER, app.clock.now())
    return task, str(review.id)


@pytest.mark.parametrize(
    ("answer", "status"), [("approve", Status.NEW), ("decline", Status.CANCELLED)]
)
def test_what_failed_with_its_group_is_shown_and_fixed_or_left(
    fresh: Served, answer: str, status: Status
) -> None:
    task, review = asked(fresh)

    page = unescape(fresh.look(f"/inbox/{review}").text)
    listed = unescape(fresh.look("/inbox").text)
    told = fresh.post(f"/api/reviews/{review}/decision", {"answer": answer})

    assert "The merged work failed a check. Fix it?" in page
    assert "E2e failed on main of shop, with prd.md." in page
    assert page.count("Have it fixed, or leave it?") == 1  # in the journal; the answers say so
    assert "blank <b>" in page
    assert "Fix it" in page
    assert "Leave it" in page
    assert f'href="/tasks/{COMPLETED.id}"' in page
    assert "Fix e2e" in listed
    assert told
    assert fresh.stored(task).status is status


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
