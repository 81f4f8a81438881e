"""The inbox without a script: every question is drawn, every answer is a form, and counts once."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from html import unescape
from pathlib import Path
from typing import Final

import httpx2
import pytest
from msgspec.structs import replace

from remit import review
from remit.model.codec import Json, JsonMap
from remit.model.delivery import Delivery
from remit.model.ids import DeliveryId, ReviewId
from remit.model.permit import Reach
from remit.model.reply import Ask, Hold, Reply, ToolCall
from remit.model.review import Review
from remit.model.status import Actor, Reason
from remit.model.task import Source, Task
from remit.server.web import words
from remit.settings import load
from remit.store import audit, meta, reviews
from remit.store.database import Tx
from remit.store.secrets import Secrets
from tests.server.served import Served

LETTER: Final = "Lumphini Park."
LATER: Final = "2026-04-01T10:00:00Z"
HIDDEN: Final = re.compile(r'name="digest" value="([0-9a-f]+)"')


class Visitor:
    """A browser without a script: it reads pages and sends forms."""

    def __init__(self, served: Served) -> None:
        self.served = served

    def get(self, path: str, status: int = 200, language: str = "") -> str:
        answer = self.served.look(path, Accept_Language=language)
        assert answer.status_code == status, answer.text
        return unescape(answer.text)

    def post(self, path: str, status: int = 303, **fields: str) -> httpx2.Response:
        answer = self.served.submit(path, fields)
        assert answer.status_code == status, answer.text
        return answer

    def decide(self, review: str, status: int = 303, **fields: str) -> httpx2.Response:
        """Answer what is shown on the page, as it is shown."""
        found = HIDDEN.search(self.get(f"/inbox/{review}"))
        assert found
        return self.post(f"/inbox/{review}", status, digest=found[1], **fields)


@pytest.fixture
def visitor(busy: Served) -> Visitor:
    return Visitor(busy)


def _asked(served: Served, title: str = "Tell Anna", to: str | None = "anna@example.org") -> str:
    """A task whose letter waits for a yes; the review's id."""
    delivery: list[Json] = [{"channel": "outbox", "recipient": to}]
    task = served.post("/api/tasks", {"title": title, "delivery": delivery})["id"]
    served.settle()
    (review,) = [each for each in _open(served) if each.task_id == task]
    return str(review.id)


def _open(served: Served) -> list[Review]:
    return served.do(served.app.inbox.waiting())


def _review(served: Served, ident: str) -> Review:
    return served.read(reviews.get, ReviewId(ident))


def _complaints(served: Served) -> list[str]:
    def look(tx: Tx) -> list[str]:
        return list(audit.complaints(tx))

    return served.read(look)


def _pass(served: Served, span: timedelta) -> None:
    async def advance() -> None:
        served.clock.advance(span)

    served.do(advance())
    served.settle()


def test_an_empty_app_says_how_to_begin_and_a_quiet_one_that_nothing_is_wanted(
    busy: Served, visitor: Visitor
) -> None:
    assert "Hand over your first task" in visitor.get("/inbox")
    busy.add("Look around", scheduledFor=LATER)
    quiet = visitor.get("/inbox")
    assert "Nothing needs you" in quiet
    assert "Hand over your first task" not in quiet


def test_a_letter_that_is_approved_as_it_stands_is_not_called_edited(
    busy: Served, visitor: Visitor
) -> None:
    review = _asked(busy)
    visitor.decide(review, answer="approve", text=LETTER)
    decision = _review(busy, review).decision
    assert decision is not None
    assert (decision.answer, decision.text) == ("approve", None)


def test_a_text_under_review_can_go_to_somebody_else_and_only_there(
    busy: Served, visitor: Visitor
) -> None:
    review = _asked(busy)
    assert 'name="to" form="decide"' in visitor.get(f"/inbox/{review}")
    decide = partial(visitor.decide, text="Hi Ben", to="ben@example.org", channel="outbox")
    decide(review, answer="approve")
    busy.settle()
    (asked,) = _open(busy)
    page = visitor.get(f"/inbox/{asked.id}")
    assert "ben@example.org" in page
    assert asked.evidence == "Hi Ben"
    decide(str(asked.id), answer="approve")
    _pass(busy, timedelta(seconds=11))
    assert [(each.recipient, each.body) for each in busy.outbox.sent] == [
        ("ben@example.org", "Hi Ben")
    ]


def test_a_text_for_somebody_else_stays_the_same_task_and_the_models_text(
    busy: Served, visitor: Visitor
) -> None:
    review = _asked(busy)
    first = _review(busy, review)
    was = busy.stored(first.task_id)
    readdress = partial(visitor.decide, answer="approve", text=LETTER, channel="outbox")
    readdress(review, to="ben@example.org")
    busy.settle()
    (asked,) = _open(busy)
    task = busy.stored(asked.task_id)

    assert asked.task_id == first.task_id
    assert (task.instructions, task.work, task.tool_output) == (
        was.instructions,
        was.work,
        was.tool_output,
    )
    assert [(each.recipient, each.content) for each in task.delivery] == [("ben@example.org", None)]
    assert asked.evidence == LETTER
    assert asked.digest != first.digest
    assert busy.outbox.sent == []
    assert "Form checked" not in visitor.get("/inbox/list")
    assert "You chose another recipient or channel" in visitor.get(f"/inbox/{review}")

    readdress(str(asked.id), to="anna@example.org")  # back again: that was never approved
    busy.settle()
    (again,) = _open(busy)
    assert again.digest == first.digest
    assert busy.outbox.sent == []
    visitor.decide(str(again.id), answer="approve", text=LETTER)
    _pass(busy, timedelta(seconds=11))
    assert [(each.recipient, each.body) for each in busy.outbox.sent] == [
        ("anna@example.org", LETTER)
    ]
    assert _complaints(busy) == []


def test_a_held_reply_goes_to_somebody_else_in_the_owners_words_after_one_more_question(
    busy: Served, visitor: Visitor
) -> None:
    review = _asked(busy, "Tell Anna, untagged")
    assert _review(busy, review).about_reply
    decide = partial(visitor.decide, answer="edit", to="ben@example.org", channel="outbox")
    decide(review, text="Hello, in my own words")
    busy.settle()
    (asked,) = _open(busy)
    assert (asked.task_id, asked.evidence) == (
        _review(busy, review).task_id,
        "Hello, in my own words",
    )
    assert "ben@example.org" in asked.question
    assert busy.outbox.sent == []


def test_what_was_sent_or_decided_cannot_go_elsewhere(busy: Served, visitor: Visitor) -> None:
    review = _asked(busy)
    visitor.decide(review, answer="approve", text=LETTER)
    to: JsonMap = {"channel": "outbox", "to": "ben@example.org"}
    answer = busy.ask("POST", f"/api/reviews/{review}/recipient", to)
    assert answer.status_code == 409
    other = _asked(busy, "Other")
    answer = busy.ask("POST", f"/api/reviews/{other}/recipient", {**to, "channel": "pigeon"})
    assert answer.status_code == 404
    assert "There is no channel 'pigeon'" in answer.text


def test_a_text_that_was_changed_is_verified_nowhere_in_the_inbox(
    busy: Served, visitor: Visitor
) -> None:
    review = _asked(busy)
    assert "Form checked" in visitor.get("/inbox/list")
    visitor.decide(review, answer="approve", text="Hi Anna, in my own words")
    visitor.post(f"/inbox/{review}/undo")
    for path in ("/inbox/list", f"/inbox/{review}"):
        assert "Form checked" not in visitor.get(path)
        assert "Not verified" in visitor.get(path)
    visitor.decide(review, answer="approve", text="Hi Anna, in my own words")
    _pass(busy, timedelta(seconds=11))
    ended = visitor.get(f"/inbox/{_review(busy, review).task_id}")
    assert "Form checked" not in ended
    assert "You changed it after it was checked." in ended


def test_what_was_typed_is_what_goes_out_to_the_byte(busy: Served, visitor: Visitor) -> None:
    review = _asked(busy)
    typed = "Hi Anna,\n\n  *two* lines & a <tag>,\tünïcødé 🦎\nthe end"
    visitor.decide(review, answer="approve", text=typed.replace("\n", "\r\n"))
    _pass(busy, timedelta(seconds=11))
    assert [parcel.body for parcel in busy.outbox.sent] == [typed]


@pytest.mark.parametrize(
    "form",
    [
        {"text": "1: morgen um 9:30\n2: morgen um 18 Uhr"},
        {"line-1": "morgen um 9:30", "line-2": "morgen um 18 Uhr"},
    ],
)
def test_the_card_of_a_message_is_drawn_and_its_lines_are_answered_in_one_form(
    busy: Served, visitor: Visitor, form: dict[str, str]
) -> None:
    text = "Erinnere mich bald an den Müll. Erinnere mich irgendwann an den Arzt."
    told = busy.post("/api/messages", {"text": text})
    first, second = [str(each["id"]) for each in told["tasks"]]
    (review,) = [str(each.id) for each in _open(busy)]
    page, other = visitor.get(f"/inbox/{review}"), visitor.get(f"/tasks/{second}")
    visitor.decide(review, 303, answer="answer", **form)

    for shown in (
        "2 Dinge sind offen",
        "Geht an",
        "dich, über dashboard",
        "Den Arzt",
        "“bald”",
        'name="line-2"',
    ):
        assert shown in page
    assert f'href="/inbox/{review}"' in other  # it waits for the card of the first task
    assert _open(busy) == []
    planned = [busy.get(f"/api/tasks/{each}")["scheduledFor"] for each in (first, second)]
    assert None not in planned


def test_a_question_whose_answer_cannot_be_read_keeps_its_place(
    busy: Served, visitor: Visitor
) -> None:
    """It is asked anew, under another address, before what came in since."""
    for text in ("Remind me soon to eat", "Remind me soon to run"):
        busy.post("/api/messages", {"text": text})
        _pass(busy, timedelta(minutes=1))
    first, second = _open(busy)
    visitor.decide(str(first.id), answer="answer", text="whenever the moon is blue")
    page = visitor.get("/inbox/list")

    (again, still) = _open(busy)
    assert (again.task_id, still.id) == (first.task_id, second.id)
    assert again.id != first.id
    assert page.index(str(again.id)) < page.index(str(still.id))


def test_who_decides_second_is_told_who_was_first_and_changes_nothing(
    busy: Served, visitor: Visitor
) -> None:
    review = _asked(busy)
    digest = HIDDEN.search(visitor.get(f"/inbox/{review}"))
    assert digest
    visitor.post(f"/inbox/{review}", answer="approve", text=LETTER, digest=digest[1])
    late = visitor.post(f"/inbox/{review}", 409, answer="decline", text="No more", digest=digest[1])
    assert "decided in another window meanwhile" in late.text
    assert "You approved, today at" in late.text
    decision = _review(busy, review).decision
    assert decision is not None
    assert decision.answer == "approve"


def test_nobody_approves_what_he_was_not_shown(busy: Served, visitor: Visitor) -> None:
    review = _asked(busy)
    visitor.post(f"/inbox/{review}", 409, answer="approve", text=LETTER, digest="0" * 64)
    visitor.post(f"/inbox/{review}", 409, answer="approve", text=LETTER)
    assert _review(busy, review).decision is None
    assert busy.outbox.tried == []


def test_a_yes_for_always_is_kept_and_the_next_letter_goes_unasked(
    busy: Served, visitor: Visitor
) -> None:
    page = visitor.get(f"/inbox/{(review := _asked(busy))}")
    assert "this person, this channel, this address" in page
    visitor.decide(review, always="true", text=LETTER)
    busy.post(
        "/api/tasks",
        {"title": "Again", "delivery": [{"channel": "outbox", "recipient": "anna@example.org"}]},
    )
    _pass(busy, timedelta(seconds=11))
    assert _open(busy) == []
    assert len(busy.outbox.sent) == 2


def test_what_is_sent_back_is_done_again_with_the_word_and_needs_one(
    busy: Served, visitor: Visitor
) -> None:
    review = _asked(busy)
    wrong = visitor.decide(review, 422, answer="back")
    assert "Write what should be different first" in wrong.text
    visitor.decide(review, answer="back", text="Shorter, please.")
    busy.settle()
    (again,) = _open(busy)
    assert busy.stored(again.task_id).notes == ("Shorter, please.",)


def test_what_was_approved_can_be_called_back_changed_and_sent(
    busy: Served, visitor: Visitor
) -> None:
    review = _asked(busy)
    visitor.decide(review, answer="approve", text=f"{LETTER} Soon.")
    assert "Undo" in visitor.get(f"/inbox/{review}/stand")
    visitor.post(f"/inbox/{review}/undo")
    _pass(busy, timedelta(minutes=1))
    assert busy.outbox.tried == []
    assert f"{LETTER} Soon." in unescape(visitor.get(f"/inbox/{review}"))
    visitor.decide(review, answer="approve", text=f"{LETTER} Very soon.")
    _pass(busy, timedelta(seconds=11))
    assert [parcel.body for parcel in busy.outbox.sent] == [f"{LETTER} Very soon."]


def test_what_is_on_its_way_cannot_be_called_back(busy: Served, visitor: Visitor) -> None:
    review = _asked(busy)
    visitor.decide(review, answer="approve", text=LETTER)
    _pass(busy, timedelta(seconds=11))
    visitor.post(f"/inbox/{review}/undo", 409)
    assert "Undo" not in visitor.get(f"/inbox/{review}/stand")


@pytest.mark.parametrize(
    "text",
    ["Remind me soon to eat", "Send Zoe the plan. Remind me soon to eat.", "Renew my passport"],
)
def test_undoing_a_decline_brings_back_the_same_tasks_and_the_same_question(
    busy: Served, visitor: Visitor, text: str
) -> None:
    busy.post("/api/messages", {"text": text})
    busy.settle()
    (asked,), before = _open(busy), _tasks(busy)
    visitor.decide(str(asked.id), answer="decline")
    assert _open(busy) == []
    _pass(busy, timedelta(seconds=5))
    visitor.post(f"/inbox/{asked.id}/undo")
    _pass(busy, timedelta(seconds=30))
    (again,) = _open(busy)
    assert (_tasks(busy), again.question) == (before, asked.question)
    # Once it can no longer be undone, all of it ends.
    visitor.decide(str(asked.id), answer="decline")
    _pass(busy, timedelta(seconds=11))
    assert {status for _, _, status in _tasks(busy)} == {"cancelled"}
    assert "Undo" not in visitor.get(f"/inbox/{asked.id}/stand")


def _tasks(served: Served) -> list[tuple[str, Source, str]]:
    """Every task with its source and status."""
    found = [served.stored(each["id"]) for each in served.get("/api/tasks")["tasks"]]
    return [(each.id, each.source, each.status.value) for each in found]


@pytest.mark.parametrize("until", ["hour", "evening", "morning"])
def test_what_is_put_off_is_out_of_sight_until_it_comes_back(
    busy: Served, visitor: Visitor, until: str
) -> None:
    review = _asked(busy)
    visitor.post(f"/inbox/{review}/later", until=until)
    page = visitor.get("/inbox/list")
    assert "Decide <" not in page
    assert page.index("Later") < page.index(review)
    _pass(busy, timedelta(days=1))
    back = visitor.get("/inbox/list")
    assert back.index("Decide <") < back.index(review)
    assert "Later" not in back


def test_a_question_is_put_off_to_a_time_that_is_to_come(busy: Served, visitor: Visitor) -> None:
    review = _asked(busy)
    assert (
        "choose a later time"
        in visitor.post(f"/inbox/{review}/later", 422, at="2020-01-01T10:00").text
    )
    assert "is no time" in visitor.post(f"/inbox/{review}/later", 422, at="soon").text
    visitor.post(f"/inbox/{review}/later", at="2026-03-10T10:00")
    assert "Decide <" not in visitor.get("/inbox/list")


def test_what_failed_is_tried_again_in_other_words(busy: Served, visitor: Visitor) -> None:
    task = busy.add("Something hopeless")
    busy.settle()
    visitor.post(f"/inbox/{task}/retry", instructions="Something else")
    busy.settle()
    assert task not in visitor.get("/inbox/list")
    (again,) = [each for each in busy.get("/api/tasks")["tasks"] if each["retryOf"] == task]
    assert again["instructions"] == "Something else"


def test_what_still_runs_is_not_for_the_inbox(busy: Served, visitor: Visitor) -> None:
    task = busy.add("Look around", scheduledFor=LATER)
    answer = busy.look(f"/inbox/{task}")
    assert (answer.status_code, answer.headers["location"]) == (303, f"/tasks/{task}")
    visitor.get("/inbox/task-nonsense", 404)
    visitor.get("/inbox/rev-01KJPG3GZ0JE2VRRDYDNSS5FYE", 404)


def test_a_text_for_the_owner_is_to_you_in_the_language_of_the_page(
    busy: Served, visitor: Visitor
) -> None:
    review = _open_review(busy, "untagged")
    assert "Nachricht an dich" in visitor.get(f"/inbox/{review}", 200, language="de")
    assert "Message to you" in visitor.get(f"/inbox/{review}")


def _open_review(served: Served, title: str) -> str:
    task = served.post("/api/tasks", {"title": title})["id"]
    served.settle()
    return next(str(each.id) for each in _open(served) if each.task_id == task)


def test_the_preview_of_a_webhook_shows_what_is_known_of_the_event(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text(
        '[channels.alarm]\nkind = "webhook"\nurl = "http://127.0.0.1:9/in"\n'
        'secret = "s"\nprivate = true\n'
    )
    Secrets(tmp_path, None).put("s", "whsec_Y2FuYXJ5LW9mLXRoZS1ob29rLTRmN2Q5MQ==")
    settings = load({"REMIT_HOME": str(tmp_path)})
    with Served(tmp_path, works=True, settings=settings) as served:
        delivery: list[Json] = [{"channel": "alarm", "recipient": "anna@example.org"}]
        served.post("/api/tasks", {"title": "Tell Anna", "delivery": delivery})
        served.settle()
        (review,) = _open(served)
        page = Visitor(served).get(f"/inbox/{review.id}")

    assert '"source": "urn:remit"' in page
    assert '"recipient": null' not in page


def test_the_preview_says_what_would_be_held_and_what_was_changed(
    busy: Served, visitor: Visitor
) -> None:
    review = _asked(busy)
    told = visitor.post(f"/inbox/{review}/preview", 200, text="Lumphini Garden.").text
    assert "<del>Park</del><ins>Garden</ins>" in told
    assert "Would be held" not in told
    assert "Would be held" in visitor.post(f"/inbox/{review}/preview", 200, text="NONE").text
    assert "Nothing is written yet" in visitor.post(f"/inbox/{review}/preview", 200).text
    assert _review(busy, review).decision is None


_TASKED: Final = Delivery("outbox", "Anna", id=DeliveryId("dlv-1"), reason="no answer came")
_CALL: Final = ToolCall("call-1", "pay_bill", {"amount": "12"})
KINDS: Final[dict[str, tuple[Callable[[Task], Review], str]]] = {
    "question": (lambda t: review.question(t, "0", Ask(Reason.INPUT, "Which one?")), "Your answer"),
    "endless": (lambda t: review.endless(t, 20), "Your answer"),
    "call": (lambda t: review.call(t, "0:0", _CALL), "Allow this call"),
    "begun": (lambda t: review.begun(t, "0:0", _CALL, "It stopped."), "It was done"),
    "held": (lambda t: review.held(t, 0, Hold("It is odd."), Reply("Hm")), "Send this text"),
    "whom": (
        lambda t: review.ask_whom(t, _TASKED, 0, "Two are called Anna."),
        "name from your contacts",
    ),
    "send": (
        lambda t: review.permission(t, _TASKED, Reach("Anna", "1"), "Hi", "It is late. "),
        "It is late.",
    ),
    "unproven": (lambda t: review.ask_about_unproven(t, "too long", "A text"), "Accept anyway"),
    "locked": (lambda t: review.ask_to_unlock(t, _TASKED, "the token is old"), "Fixed, continue"),
    "doubt": (lambda t: review.doubtful(t, _TASKED), "It arrived"),
    "budget": (
        lambda t: review.question(t, "1", Ask(Reason.APPROVAL, "It costs $2.", about="budget:day")),
        "Continue",
    ),
    "poison": (
        lambda t: review.question(t, "2", Ask(Reason.POISON, "Remit died 3 times. Try once more?")),
        "Try once more",
    ),
}


def _store(served: Served, review: Review) -> None:
    served.write(reviews.open_review, review, Actor.EXECUTOR, served.clock.now())


def _put(served: Served, make: Callable[[Task], Review]) -> tuple[str, Review]:
    """Open a question as a run would, on a task that waits for its day."""
    made = make(served.stored(served.add("Look around", scheduledFor=LATER)))
    review = replace(made, id=ReviewId(f"rev-{served.app.ids.ulid()}"))
    _store(served, review)
    return str(review.id), review


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_question_is_drawn_with_the_answers_it_takes(
    still: Served, kind: str
) -> None:
    make, says = KINDS[kind]
    ident, review = _put(still, make)
    page = Visitor(still).get(f"/inbox/{ident}")
    assert says in page
    buttons = set(re.findall(r'name="answer" value="(\w+)"', page))
    missing = {each.value for each in review.options} - buttons
    assert missing <= {"edit"}  # a changed text that is approved
    assert buttons <= {each.value for each in review.options}


def test_arguments_that_are_no_object_are_not_taken_for_any(still: Served) -> None:
    ident, _ = _put(still, lambda task: review.call(task, "0:0", _CALL))
    wrong = Visitor(still).decide(ident, 422, answer="approve", text='["no object"')
    assert "no JSON object" in wrong.text
    assert "no object" in unescape(wrong.text)
    assert _review(still, ident).decision is None
    Visitor(still).decide(ident, answer="approve", text='{"amount": "13"}')
    decision = _review(still, ident).decision
    assert decision is not None
    assert (decision.answer, decision.text) == ("edit", '{"amount": "13"}')


def test_a_click_is_noted_and_what_a_page_fetches_by_itself_is_not(
    busy: Served, visitor: Visitor
) -> None:
    review = _asked(busy)
    before = _acted(busy)
    _pass(busy, timedelta(minutes=5))
    visitor.get("/inbox/list")
    visitor.get(f"/inbox/{review}/stand")
    visitor.post(f"/inbox/{review}/later", 422, at="2020-01-01T10:00")
    visitor.post("/settings/edit", 422, section="budget", day_cents="a lot")
    assert _acted(busy) == before

    visitor.post(f"/inbox/{review}/later", until="hour")
    assert _acted(busy) == busy.clock.now()


def _acted(served: Served) -> datetime | None:
    return served.read(meta.last)


def test_a_row_is_counted_among_its_kind_and_shows_words_without_marks(
    busy: Served, visitor: Visitor
) -> None:
    busy.add("Say hello")  # the last of three, and the only one that is decided
    review = _asked(busy)
    busy.settle()
    page = visitor.get(f"/inbox/{review}")
    assert "1 of 1" in page
    assert [words.teaser(text) for text in ("**Two** *parks*: `a`", "# 2*3*4 a_b_c", "- one")] == [
        "Two parks: `a`",
        "2*3*4 a_b_c",
        "one",
    ]


def test_someone_new_is_added_and_used_before_any_channel_is_set_up(
    busy: Served, visitor: Visitor
) -> None:
    busy.post("/api/messages", {"text": "Tell Zoe that I am late"})
    (review,) = _open(busy)
    assert "No channel is set up yet" in visitor.get(f"/inbox/{review.id}")
    german = visitor.get(f"/inbox/{review.id}", 200, language="de")
    assert "<h1>Wer ist 'Zoe'?</h1>" in german
    assert "Nobody in your contacts" not in german

    visitor.post(f"/inbox/{review.id}/contact", name="Zoe Park", channel="dashboard")

    busy.settle()
    (asked,) = _open(busy)
    assert "Zoe Park" in asked.question
    assert "dashboard: Zoe Park" in (busy.home / "contacts.yaml").read_text()
