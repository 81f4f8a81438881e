"""Who may do what, row by row of the table; an agent tries everything and decides nothing."""

from datetime import timedelta
from typing import Final

import pytest

from remit.model.caller import Scope
from remit.model.codec import Json, JsonMap, stamp
from remit.model.ids import ReviewId
from remit.model.review import Decision, ReviewAnswer
from remit.model.status import Status
from remit.model.task import Creator, Taint
from remit.server import app as pages_app
from remit.server.routes import UNSAFE
from tests.server.besieged import Besieged, bearer, named, rows

# Whoever changes this list changes who may do what: the table alone must not be able to.
APPROVE: Final = """
DELETE /api/conversations/{id}
PATCH /api/conversations/{id}
POST /api/conversations/{id}/turns
POST /api/tasks/{id}/undo
POST /api/tasks/{id}/seen
POST /api/tasks/{id}/vouch
POST /api/reviews/{id}/decision
POST /api/reviews/{id}/later
POST /api/reviews/{id}/recipient
POST /api/reviews/{id}/undo
POST /api/inbox/seen
GET /api/push
POST /api/push
DELETE /api/push
POST /inbox/{id}
POST /inbox/{id}/later
POST /inbox/{id}/contact
POST /inbox/seen
POST /inbox/{id}/undo
POST /inbox/{id}/resume
POST /inbox/{id}/seen
POST /schedule/refused
POST /conversations
POST /conversations/{id}
POST /conversations/{id}/title
POST /conversations/{id}/delete
POST /tasks/{id}/undo
"""
ADMIN: Final = """
POST /api/contacts
POST /api/contacts/permissions
PATCH /api/contacts/{name}
DELETE /api/contacts/{name}
POST /api/channels/{name}/test
POST /api/channels/{name}/pairing
POST /api/channels/{name}/on
POST /api/rules
DELETE /api/rules/{id}
POST /api/lessons/revert
POST /api/reflections
POST /api/calendars/sync
POST /api/recall/rebuild
DELETE /api/recall
POST /api/cues/{id}/start
POST /api/notices/test
GET /api/tokens
POST /api/tokens
DELETE /api/tokens/{id}
GET /api/sign-ins
POST /api/sign-ins
DELETE /api/sign-ins/{id}
POST /api/password
PATCH /api/settings/{section}
DELETE /api/settings/{section}
POST /api/settings/{section}/test
GET /welcome
POST /welcome/test
GET /settings
GET /settings/edit
POST /settings/edit
POST /settings/edit/test
POST /settings/edit/remove
POST /settings/password
GET /settings/channels/test/{task}
GET /settings/{section}
POST /settings/channels/{name}/test
POST /settings/channels/{name}/on
POST /settings/channels/{name}/connect
GET /settings/account
POST /settings/account
POST /settings/calendars/{name}/connect
POST /settings/channels/{name}/pair
GET /settings/channels/{name}/pairing
GET /settings/connect
POST /settings/connect
POST /settings/contacts/drop
POST /settings/contacts/policy
POST /settings/policies/forget
POST /settings/notices/test
POST /settings/tokens
POST /settings/tokens/{id}/revoke
POST /settings/sign-ins/{id}/end
"""
PUBLIC: Final = """
GET /healthz
GET /hooks/whatsapp/{name}
POST /hooks/whatsapp/{name}
POST /hooks/in/{name}
GET /feed/{name}
GET /oauth/callback
GET /.well-known/agent-card.json
GET /sw.js
GET /sign-in
POST /sign-in
POST /sign-out
"""
# What these answer is what a GET of the same would: so they take `read` besides.
REVEALS: Final = """
DELETE /api/conversations/{id}
PATCH /api/conversations/{id}
POST /api/conversations/{id}/turns
POST /api/tasks/{id}/conversation
POST /api/lessons/revert
DELETE /api/views/{name}
"""
# It draws what is being typed, and keeps nothing.
LOOKS: Final = "POST /inbox/{id}/preview"
OWNERS: Final = (
    "/api/tokens",
    "/api/sign-ins",
    "/api/contacts",
    "/api/rules",
    "/api/channels",
)


def _letter(app: Besieged, to: str, secret: str | None = None) -> str:
    """A finished text to somebody; who entrusts it says who asks."""
    sent: list[Json] = [{"channel": "outbox", "recipient": to, "content": "Hello there."}]
    body: JsonMap = {"title": f"Write to {to}", "delivery": sent}
    answer = app.ask("POST", "/api/tasks", body, headers=bearer(secret) if secret else None)
    assert answer.status_code == 201, answer.text
    app.settle()
    return str(answer.json()["id"])


def _status(app: Besieged, task: str) -> Status:
    return app.stored(task).status


def _agent(app: Besieged) -> str:
    return app.secret("nina", "read", "write", agent=True)


# The table ----------------------------------------------------------------------------------------


def test_every_route_needs_what_is_written_down_here() -> None:
    expected = dict.fromkeys(PUBLIC.split("\n"), "public")
    expected |= dict.fromkeys(APPROVE.split("\n"), "approve")
    expected |= dict.fromkeys(ADMIN.split("\n"), "admin") | {LOOKS: "read"}
    for route in pages_app.table(1, debug=True):
        else_ = Scope.WRITE if route.method in UNSAFE else Scope.READ
        need = "public" if route.public else route.needs.value
        assert need == expected.pop(named(route), else_.value), named(route)
        assert route.reveals is (named(route) in REVEALS.split("\n")), named(route)
    expected.pop("")

    assert expected == {}


def test_a_token_of_a_program_opens_no_page(app: Besieged) -> None:
    everything = app.secret("phone", "read", "write", "approve", "admin")
    agent = _agent(app)
    for secret in (everything, agent):
        app.ask("GET", "/api/tasks", secret=secret)  # that it was used is kept, to the minute
    before = app.kept()
    for secret in (everything, agent):
        for route in rows(page=True):
            if route.public:
                continue
            answer = app.send(route, bearer(secret))
            assert answer.status_code == 403, named(route)
            assert "pages are for people" in answer.text

    assert app.kept() == before


def test_an_agent_s_token_tries_every_route_and_decides_nothing(app: Besieged) -> None:
    secret = _agent(app)
    owners = {path: app.get(path) for path in OWNERS if path != "/api/tokens"}
    tokens = {each["id"] for each in app.get("/api/tokens")["tokens"]}
    asked = app.get(f"/api/reviews/{app.ids['review']}")
    reached = 0
    for route in rows():
        answer = app.send(route, bearer(secret))
        owned = route.page or route.needs in (Scope.APPROVE, Scope.ADMIN)
        assert answer.status_code < 500, (named(route), answer.text)
        if owned and not route.public:
            assert answer.status_code == 403, (named(route), answer.text)
        reached += answer.is_success
    app.settle()

    assert reached > 20  # it did get somewhere
    assert {path: app.get(path) for path in owners} == owners
    after = {each["id"] for each in app.get("/api/tokens")["tokens"]}
    assert after == tokens
    assert app.get(f"/api/reviews/{app.ids['review']}") == asked
    assert asked["decision"] is None
    assert app.outbox.sent == []


# An agent's words ---------------------------------------------------------------------------------


def test_the_owner_writes_to_whom_he_allowed_and_an_agent_is_asked_about(app: Besieged) -> None:
    mine = _letter(app, "Anna")
    app.clock.advance(timedelta(minutes=1))
    app.settle()
    its = _letter(app, "Anna", _agent(app))
    app.clock.advance(timedelta(minutes=1))
    app.settle()

    assert (_status(app, mine), app.stored(mine).taint) == (Status.COMPLETED, Taint.OWNER)
    assert (_status(app, its), app.stored(its).taint) == (Status.NEEDS_REVIEW, Taint.CONTACT)
    assert app.stored(its).created_by is Creator.AGENT
    assert [parcel.recipient for parcel in app.outbox.sent] == ["anna@example.org"]


def test_an_agent_s_word_on_how_urgent_it_is_is_not_the_owner_s(app: Besieged) -> None:
    body: JsonMap = {"text": "Look around", "priority": "high"}
    made = app.ask("POST", "/api/tasks", body, secret=_agent(app)).json()["id"]
    mine = app.add("Look around", priority="high")
    rules = [app.stored(task).rule for task in (made, mine)]

    assert [rule.name if rule else None for rule in rules] == ["agent", "owner"]


def test_what_an_agent_asked_for_stays_its_words_when_it_is_tried_again(app: Besieged) -> None:
    its = _letter(app, "Anna", _agent(app))
    app.patch(its, "cancel")
    again = str(app.post(f"/api/tasks/{its}/retry")["id"])
    stored = app.stored(again)

    assert (stored.created_by, stored.taint) == (Creator.AGENT, Taint.CONTACT)


def test_what_an_agent_asked_for_stays_its_words_however_often_it_comes_back(
    app: Besieged,
) -> None:
    first = stamp(app.clock.now() + timedelta(hours=1))
    repeats: JsonMap = {"rule": "FREQ=DAILY", "zone": "UTC", "first": first}
    sent: list[Json] = [{"channel": "outbox", "recipient": "Anna", "content": "Hello there."}]
    body: JsonMap = {"title": "Write to Anna", "delivery": sent, "repeats": repeats}
    made = app.ask("POST", "/api/tasks", body, secret=_agent(app))
    assert made.status_code == 201, made.text
    series = app.stored(made.json()["id"]).series_id
    app.clock.advance(timedelta(hours=1))
    app.settle()
    app.patch(str(made.json()["id"]), "cancel")  # one that is open holds the next one back
    app.clock.advance(timedelta(days=1))
    app.do(app.app.repeater.catch_up())
    app.settle()
    found = app.get(f"/api/tasks?series={series}")["tasks"]
    came = [app.stored(str(each["id"])) for each in found]

    assert len(came) > 1
    assert {(each.created_by, each.taint) for each in came} == {(Creator.AGENT, Taint.CONTACT)}
    assert app.outbox.sent == []


@pytest.mark.parametrize("many", [False, True])
def test_an_agent_sends_no_letter_of_the_owner_s_once_more_unasked(
    app: Besieged, many: bool
) -> None:
    mine = _letter(app, "Anna")
    app.clock.advance(timedelta(minutes=1))
    app.settle()
    path = "/api/tasks/bulk" if many else f"/api/tasks/{mine}/retry"
    body: JsonMap | None = {"action": "retry", "ids": [mine]} if many else None
    answer = app.ask("POST", path, body, secret=_agent(app))
    app.settle()
    app.clock.advance(timedelta(minutes=1))
    app.settle()
    again = answer.json()["results"][0]["became"] if many else answer.json()["id"]

    assert _status(app, again) is Status.NEEDS_REVIEW
    assert len(app.outbox.sent) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"instructions": "Send it to everybody"},
        {"delivery": [{"channel": "outbox", "recipient": "Anna", "content": "Pay me"}]},
        {"title": "Obey"},
        {"priority": "critical"},
    ],
)
def test_an_agent_changes_no_words_but_its_own(app: Besieged, change: JsonMap) -> None:
    secret, task = _agent(app), app.ids["task"]
    before = app.stored(task)
    mine = app.ask("PATCH", f"/api/tasks/{task}", change, secret=secret)
    body: JsonMap = {"text": "Look around", "scheduledFor": "2031-01-01T09:00:00Z"}
    own = app.ask("POST", "/api/tasks", body, secret=secret).json()["id"]
    its = app.ask("PATCH", f"/api/tasks/{own}", change, secret=secret)

    assert mine.status_code == 403
    assert "not in its own words" in mine.json()["detail"]
    assert app.stored(task) == before
    assert its.status_code == 200, its.text
    assert app.stored(own).taint is Taint.CONTACT


# What was approved --------------------------------------------------------------------------------


def _approved(app: Besieged) -> str:
    task = _letter(app, "Bea")
    review = ReviewId(app.review_of(task))
    app.do(app.app.inbox.decide(review, Decision(ReviewAnswer.APPROVE)))
    app.settle()
    assert _status(app, task) is Status.DELIVERING
    return task


def test_an_agent_calls_nothing_back(app: Besieged) -> None:
    task = _approved(app)
    answer = app.ask("POST", f"/api/tasks/{task}/undo", secret=_agent(app))

    assert answer.status_code == 403
    assert _status(app, task) is Status.DELIVERING


@pytest.mark.parametrize("many", [False, True])
def test_what_the_owner_called_back_no_agent_sends(app: Besieged, many: bool) -> None:
    task, secret = _approved(app), _agent(app)
    app.post(f"/api/tasks/{task}/undo")
    if many:
        body: JsonMap = {"action": "resume", "ids": [task]}
        told = app.ask("POST", "/api/tasks/bulk", body, secret=secret).json()["results"][0]["why"]
    else:
        answer = app.ask("PATCH", f"/api/tasks/{task}", {"action": "resume"}, secret=secret)
        assert answer.status_code == 403
        told = answer.json()["detail"]
    app.clock.advance(timedelta(minutes=5))
    app.settle()

    assert "only a person sends it now" in told
    assert _status(app, task) is Status.NEEDS_REVIEW
    assert app.outbox.sent == []
    again = ReviewId(app.review_of(task))
    app.do(app.app.inbox.decide(again, Decision(ReviewAnswer.APPROVE)))
    app.clock.advance(timedelta(minutes=5))
    app.settle()
    assert len(app.outbox.sent) == 1


def test_an_agent_lets_go_on_what_it_may(app: Besieged) -> None:
    task, secret = app.ids["task"], _agent(app)
    app.patch(task, "pause")
    answer = app.ask("PATCH", f"/api/tasks/{task}", {"action": "resume"}, secret=secret)

    assert answer.status_code == 200, answer.text
    assert _status(app, task) is not Status.PAUSED


@pytest.mark.parametrize("action", ["run", "pause"])
def test_an_agent_shortens_no_time_to_call_back(app: Besieged, action: str) -> None:
    task = _approved(app)
    app.ask("PATCH", f"/api/tasks/{task}", {"action": action}, secret=_agent(app))
    app.settle()

    assert app.outbox.sent == []
    assert app.get(f"/api/tasks/{task}")["status"] in ("running", "paused")
