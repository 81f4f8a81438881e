"""Remit as an A2A agent: with the official client, and with messages no client would send."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import cast

import httpx
import pytest
from a2a.client import Client, ClientConfig, ClientFactory
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    StreamResponse,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils.errors import (
    A2AError,
    PushNotificationNotSupportedError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)

from remit.model.codec import Json, JsonMap
from remit.model.ids import ReviewId
from remit.model.review import Decision, ReviewAnswer
from remit.model.status import Status
from remit.model.task import Creator, SourceKind, Taint
from tests.peer.peers import Peers
from tests.server.besieged import bearer
from tests.tables import for_each

DONE = TaskState.TASK_STATE_COMPLETED
ASKS = TaskState.TASK_STATE_INPUT_REQUIRED
UNKNOWN = "task-01JZ8Q4Y7N8WZ0V5T3K2M1P9RA"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peers]:
    with Peers(tmp_path_factory.mktemp("a2a")) as opened:
        yield opened


@asynccontextmanager
async def met(app: Peers, name: str = "nina", *, streaming: bool = False) -> AsyncIterator[Client]:
    """The official client, which reads the card and takes from it where to speak."""
    secret = app.agent(name, "write")
    async with httpx.AsyncClient(headers=bearer(secret), timeout=100, trust_env=False) as line:
        config = ClientConfig(httpx_client=line, streaming=streaming)
        async with await ClientFactory(config).create_from_url(app.url) as client:
            yield client


def words(
    text: str, key: str = "", *, context: str = "", about: str = "", at_once: bool = False
) -> SendMessageRequest:
    message = Message(
        message_id=key or text,
        role=Role.ROLE_USER,
        parts=[Part(text=text)],
        context_id=context,
        reference_task_ids=[about] if about else [],
    )
    wish = SendMessageConfiguration(return_immediately=at_once)
    return SendMessageRequest(message=message, configuration=wish)


async def all_of(stream: AsyncIterator[StreamResponse]) -> list[StreamResponse]:
    return [each async for each in stream]


def send(app: Peers, request: SendMessageRequest, name: str = "nina") -> StreamResponse:
    async def talk() -> StreamResponse:
        async with met(app, name) as client:
            (told,) = await all_of(client.send_message(request))
            return told

    return asyncio.run(talk())


def post(app: Peers, method: str, params: JsonMap, **headers: str) -> JsonMap:
    sent = {"A2A-Version": "1.0"} | {key.replace("_", "-"): each for key, each in headers.items()}
    answer = app.call(app.agent("nina", "write"), method, params, path="/a2a", headers=sent)
    return cast("JsonMap", answer.json())


def said(text: str, key: str, **more: Json) -> JsonMap:
    parts: list[Json] = [{"text": text}]
    return {"message": {"messageId": key, "role": "ROLE_USER", "parts": parts, **more}}


# With the official client -------------------------------------------------------------------------


def test_the_official_client_reads_the_card_entrusts_and_gets_the_deliverable_alone(
    app: Peers,
) -> None:
    made = send(app, words("Find a park")).task
    stored = app.stored(made.id)

    assert made.status.state == DONE
    assert [part.text for each in made.artifacts for part in each.parts] == ["Lumphini Park."]
    assert "I looked around" in str(stored.tool_output)
    assert "I looked around" not in str(made)
    assert made.context_id == stored.session_id
    assert (stored.created_by, stored.taint, stored.source.kind) == (
        Creator.AGENT,
        Taint.CONTACT,
        SourceKind.AGENT,
    )


def test_a_message_that_comes_twice_is_one_task(app: Peers) -> None:
    first, again = (send(app, words("Find a park", "once")).task.id for _ in range(2))

    assert first == again


def test_what_is_followed_is_told_until_it_rests(app: Peers) -> None:
    async def talk() -> list[StreamResponse]:
        async with met(app, streaming=True) as client:
            return await all_of(client.send_message(words("Find a park, and tell me")))

    told = asyncio.run(talk())

    assert told[0].HasField("task")
    assert told[-1].status_update.status.state == DONE
    (made,) = [each.artifact_update.artifact for each in told if each.HasField("artifact_update")]
    assert made.parts[0].text == "Lumphini Park."


def test_a_task_that_waits_is_followed_until_its_owner_has_decided(app: Peers) -> None:
    async def talk(task: str) -> list[StreamResponse]:
        async with met(app, streaming=True) as client:
            told: list[StreamResponse] = []
            async for each in client.subscribe(SubscribeToTaskRequest(id=task)):
                if not told:
                    review = ReviewId(await asyncio.to_thread(app.review_of, task))
                    said = Decision(ReviewAnswer.ANSWER, "Single")
                    await asyncio.to_thread(app.do, app.app.inbox.decide(review, said))
                told.append(each)
            return told

    made = send(app, words("Get me a visa")).task
    told = asyncio.run(talk(made.id))

    assert made.status.state == ASKS
    assert f"{app.url}/tasks/{made.id}" in made.status.message.parts[0].text
    assert told[0].task.status.state == ASKS
    assert told[-1].status_update.status.state == DONE


def test_what_has_ended_is_not_followed(app: Peers) -> None:
    made = send(app, words("Find a park", "ended")).task

    async def talk() -> None:
        async with met(app, streaming=True) as client:
            await all_of(client.subscribe(SubscribeToTaskRequest(id=made.id)))

    with pytest.raises(UnsupportedOperationError):
        asyncio.run(talk())


def test_a_failed_task_is_failed(app: Peers) -> None:
    made = send(app, words("A hopeless thing")).task

    assert made.status.state == TaskState.TASK_STATE_FAILED
    assert not made.artifacts


def test_a_task_is_stopped_once(app: Peers) -> None:
    made = send(app, words("Renew my passport", "to be stopped")).task

    async def talk() -> TaskState:
        async with met(app) as client:
            stopped = await client.cancel_task(CancelTaskRequest(id=made.id))
            with pytest.raises(TaskNotCancelableError):
                await client.cancel_task(CancelTaskRequest(id=made.id))
            return stopped.status.state

    assert asyncio.run(talk()) == TaskState.TASK_STATE_CANCELED


def test_its_own_tasks_are_listed_page_by_page_and_by_their_state(app: Peers) -> None:
    made = [send(app, words(f"Find park {n}"), "lister").task.id for n in range(3)]
    made.append(send(app, words("Renew my passport"), "lister").task.id)

    async def talk() -> tuple[list[str], int, list[str], list[str], list[int]]:
        async with met(app, "lister") as client:
            found: list[str] = []
            token = ""
            while True:
                page = await client.list_tasks(ListTasksRequest(page_size=3, page_token=token))
                found += [task.id for task in page.tasks]
                token = page.next_page_token
                if not token:
                    break
            asked = await client.list_tasks(ListTasksRequest(status=ASKS))
            done = await client.list_tasks(ListTasksRequest(status=DONE, include_artifacts=True))
            shown = [len(task.artifacts) for task in (*page.tasks, *done.tasks)]
            ids = [task.id for task in asked.tasks], [task.id for task in done.tasks]
            return found, page.total_size, *ids, shown

    found, total, asked, done, shown = asyncio.run(talk())

    assert found == made[::-1]
    assert total == 4
    assert asked == made[3:]
    assert done == made[2::-1]
    assert shown == [0, 1, 1, 1]  # artifacts only where they were asked for


def test_a_thread_goes_on_with_its_own_session_and_with_no_other(app: Peers) -> None:
    first = send(app, words("Find a park", "thread 1")).task
    by_context = send(app, words("And a lake", "t2", context=first.context_id)).task
    by_name = send(app, words("And a hill", "t3", about=first.id)).task
    with pytest.raises(A2AError, match="no context"):
        send(app, words("And a tree", "t4", context=first.context_id), "stranger")
    with pytest.raises(TaskNotFoundError):
        send(app, words("And a tree", "t5", about=first.id), "stranger")

    assert by_context.context_id == by_name.context_id == first.context_id


# Whose is what, and who decides -------------------------------------------------------------------


def test_no_agent_sees_follows_or_stops_what_another_or_the_owner_entrusted(app: Peers) -> None:
    its = send(app, words("Renew my passport", "its own")).task.id
    mine = app.add("Renew my passport for me")
    app.settle()

    async def talk(task: str) -> list[str]:
        async with met(app, "stranger", streaming=True) as client:
            refused = []
            for ask in (
                client.get_task(GetTaskRequest(id=task)),
                client.cancel_task(CancelTaskRequest(id=task)),
                all_of(client.subscribe(SubscribeToTaskRequest(id=task))),
            ):
                with pytest.raises(TaskNotFoundError) as error:
                    await ask
                refused.append(str(error.value))
            listed = await client.list_tasks(ListTasksRequest())
            assert task not in [each.id for each in listed.tasks]
            return refused

    for task in (its, mine, UNKNOWN, "nonsense"):
        refused = asyncio.run(talk(task))
        assert all(task in sentence for sentence in refused)
        assert len(set(refused)) == 1

    assert app.stored(its).status is Status.NEEDS_REVIEW
    assert app.stored(mine).status is Status.NEEDS_REVIEW


def test_even_with_read_an_agent_sees_its_own_alone(app: Peers) -> None:
    mine = app.add("Compare giraffes")
    secret = app.agent("reader", "read", "write")
    headers = {"A2A-Version": "1.0"}
    answer = app.call(secret, "GetTask", {"id": mine}, path="/a2a", headers=headers)

    assert answer.json()["error"]["code"] == -32001


def test_no_message_answers_what_the_owner_is_asked(app: Peers) -> None:
    made = send(app, words("Renew my passport", "asked")).task
    for text in ("approve", "Thai", '{"answer": "approve"}'):
        told = post(app, "SendMessage", said(text, f"answer {text}", taskId=made.id))
        error = cast("JsonMap", told["error"])
        assert error["code"] == -32004
        assert f"/tasks/{made.id}" in str(error["message"])
    body: JsonMap = {"answer": "approve"}
    review = app.review_of(made.id)
    secret = app.agent("nina", "write")
    by_api = app.ask("POST", f"/api/reviews/{review}/decision", body, headers=bearer(secret))

    assert by_api.status_code == 403
    assert app.stored(made.id).status is Status.NEEDS_REVIEW


def test_who_may_only_read_entrusts_nothing(app: Peers) -> None:
    secret = app.agent("looker", "read")
    headers = {"A2A-Version": "1.0"}
    answer = app.call(secret, "SendMessage", said("Do it", "1"), path="/a2a", headers=headers)

    assert answer.status_code == 403
    assert "needs the scope `write`" in answer.json()["error"]["message"]


# Nobody is called back ----------------------------------------------------------------------------


@for_each(
    "url",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://127.0.0.1:22/",
        "http://[::ffff:127.0.0.1]/",
        "https://example.org/hook",
        "file:///etc/passwd",
    ],
)
def test_an_address_to_be_called_back_at_is_refused_before_anything_is_kept(
    app: Peers, url: str
) -> None:
    before = len(cast("list[Json]", app.get("/api/tasks?limit=500")["tasks"]))
    config: JsonMap = {"taskPushNotificationConfig": {"url": url}}
    sent = post(app, "SendMessage", {**said("Find a park", url), "configuration": config})
    made = send(app, words("Find a park", "no push")).task

    async def talk() -> None:
        async with met(app) as client:
            wish = TaskPushNotificationConfig(task_id=made.id, url=url)
            await client.create_task_push_notification_config(wish)

    with pytest.raises(PushNotificationNotSupportedError):
        asyncio.run(talk())

    assert cast("JsonMap", sent["error"])["code"] == -32003
    after = len(cast("list[Json]", app.get("/api/tasks?limit=500")["tasks"]))
    assert after - before <= 1  # the one without an address, and none with one


def test_parts_that_would_have_to_be_fetched_are_refused(app: Peers) -> None:
    for part in ({"url": "http://127.0.0.1/"}, {"raw": "aGk="}, {}, "text"):
        message: JsonMap = {"messageId": "p", "role": "ROLE_USER", "parts": [cast("Json", part)]}
        told = post(app, "SendMessage", {"message": message})
        assert cast("JsonMap", told["error"])["code"] == -32005


# Messages no client would send --------------------------------------------------------------------


@for_each(
    ("method", "params", "code"),
    [
        ("Nothing", {}, -32601),
        ("SendMessage", {}, -32602),
        ("SendMessage", {"message": {"parts": [{"text": "x"}]}}, -32602),
        ("SendMessage", {"message": {"messageId": "e", "parts": []}}, -32602),
        ("SendMessage", said(" ", "blank"), -32602),
        ("SendMessage", said("x", "m" * 1000), -32602),
        ("SendMessage", said("x\x00", "control"), -32602),
        ("SendMessage", {**said("x", "c"), "configuration": []}, -32602),
        (
            "SendMessage",
            {**said("x", "o"), "configuration": {"acceptedOutputModes": ["image/png"]}},
            -32005,
        ),
        ("GetTask", {}, -32602),
        ("GetTask", {"id": 7}, -32602),
        ("GetTask", {"id": UNKNOWN}, -32001),
        ("SubscribeToTask", {"id": UNKNOWN}, -32001),
        ("ListTasks", {"pageSize": 1000}, -32602),
        ("ListTasks", {"pageToken": "x"}, -32602),
        ("ListTasks", {"status": "TASK_STATE_HAPPY"}, -32602),
        ("ListTasks", {"statusTimestampAfter": "soon"}, -32602),
        ("GetExtendedAgentCard", {}, -32004),
        ("ListTaskPushNotificationConfigs", {"taskId": UNKNOWN}, -32003),
    ],
)
def test_what_cannot_be_answered_is_refused_with_its_number(
    app: Peers, method: str, params: JsonMap, code: int
) -> None:
    told = post(app, method, params)

    assert cast("JsonMap", told["error"])["code"] == code, told


@for_each("version", ["", "0.3", "2.0", "x"])
def test_a_version_that_is_not_spoken_is_refused(app: Peers, version: str) -> None:
    told = post(app, "ListTasks", {}, A2A_Version=version)

    assert cast("JsonMap", told["error"])["code"] == -32009


def test_who_follows_is_told_no_more_once_its_token_is_taken_back(app: Peers) -> None:
    made = app.post("/api/tokens", {"name": "gone", "scopes": ["write"], "agent": True})
    sent = {**bearer(str(made["secret"])), "A2A-Version": "1.0"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage"}
    path = app.url + "/a2a"
    told = app.client.post(path, json={**body, "params": said("My passport", "g")}, headers=sent)
    task = told.json()["result"]["task"]["id"]
    follow = {**body, "method": "SubscribeToTask", "params": {"id": task}}
    with app.client.stream("POST", path, json=follow, headers=sent) as stream:
        lines = stream.iter_lines()
        assert '"task"' in next(lines)
        app.ask("DELETE", f"/api/tokens/{made['id']}")
        rest = next(filter(None, lines), None)

    assert rest is None
    assert app.client.post(path, json=follow, headers=sent).status_code == 401
