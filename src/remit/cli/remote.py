"""The client over HTTP, used when a Remit runs in this directory."""

import json
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Final, cast
from urllib.parse import quote

from remit.cli import clock, codes, connection, unanswered
from remit.cli.codes import ServerRefusal, TimedOut
from remit.cli.connection import ClientRequest, ServerConnection
from remit.cli.order import MessageOrder, TaskOrder
from remit.cli.progress import part
from remit.cli.watch import PAUSE, EventWatch
from remit.model.caller import Scope
from remit.model.codec import Json, JsonMap, stamp
from remit.model.edit import Edit
from remit.model.ids import ReviewId, SeriesId, TaskId
from remit.model.reply import Policy
from remit.model.review import ReviewAnswer
from remit.model.task import Task

_LOOK_AGAIN: Final = 0.3  # seconds
_CODES: Final = {
    HTTPStatus.BAD_REQUEST: codes.USAGE,
    HTTPStatus.UNPROCESSABLE_ENTITY: codes.USAGE,
    HTTPStatus.NOT_FOUND: codes.NOT_FOUND,
    HTTPStatus.CONFLICT: codes.CONFLICT,
    HTTPStatus.UNAUTHORIZED: codes.UNREACHABLE,
    HTTPStatus.FORBIDDEN: codes.UNREACHABLE,
    HTTPStatus.SERVICE_UNAVAILABLE: codes.UNREACHABLE,
}


class RemoteClient:
    serves: Final = True

    def __init__(self, home: Path, link: ServerConnection) -> None:
        self._home = home
        self._link = link

    @property
    def url(self) -> str:
        return self._link.address.url

    def add(self, order: TaskOrder) -> TaskId:
        delivery: JsonMap = {"channel": order.channel}
        if order.recipient is not None:
            delivery["recipient"] = order.recipient
        if order.content is not None:
            delivery["content"] = order.content
        body: JsonMap = {"text": order.text, "delivery": [delivery]}
        if order.work:
            body["work"] = list[Json](order.work)
        body |= _when(order)
        if order.priority is not None:
            body["priority"] = order.priority.value
        if (code := order.code) is not None:
            body |= {"project": code.project, "files": list[Json](code.files)}
            body |= {} if code.prd is None else {"prd": code.prd}
        return TaskId(str(self._ask("POST", "/api/tasks", body, order.key)["id"]))

    def hear(self, saying: MessageOrder) -> JsonMap:
        body: JsonMap = {"text": saying.text, "dryRun": saying.dry_run}
        body |= {"wait": True} if saying.wait else {}
        body |= _when(saying)
        if saying.priority is not None:
            body["priority"] = saying.priority.value
        return self._ask("POST", "/api/messages", body, saying.key)

    def decide(
        self, review: ReviewId, answer: ReviewAnswer, text: str | None, *, always: bool = False
    ) -> None:
        body: JsonMap = {"answer": answer.value, "text": text, "always": always}
        self._ask("POST", f"/api/reviews/{review}/decision", body)

    def later(self, review: ReviewId, hours: int) -> None:
        self._ask("POST", f"/api/reviews/{review}/later", {"hours": hours})

    def edit(self, task: TaskId, change: Edit) -> None:
        at, level = change.scheduled_for, change.priority
        said: JsonMap = {
            "title": change.title,
            "instructions": change.instructions,
            "scheduledFor": at.isoformat() if at else None,
            "priority": level.value if level else None,
        }
        self._ask("PATCH", f"/api/tasks/{task}", {k: v for k, v in said.items() if v is not None})

    def pause(self, task: TaskId) -> None:
        self._act(task, "pause")

    def undo(self, task: TaskId) -> None:
        self._ask("POST", f"/api/tasks/{task}/undo", {})

    def resume(self, task: TaskId) -> None:
        self._act(task, "resume")

    def cancel(self, task: TaskId) -> None:
        self._act(task, "cancel")

    def run(self, task: TaskId) -> TaskId:
        body: JsonMap = {"action": "run"}
        made = self._ask("PATCH", f"/api/tasks/{task}", body, unanswered.new_key())
        return TaskId(str(made["id"]))

    def order_series(self, series: SeriesId, verb: str, said: JsonMap) -> JsonMap:
        return self._ask("POST", f"/api/series/{series}/{verb}", said)

    def delete(self, task: TaskId) -> None:
        self._ask("DELETE", f"/api/tasks/{task}")

    def retry(self, task: TaskId, key: str) -> TaskId:
        return TaskId(str(self._ask("POST", f"/api/tasks/{task}/retry", {}, key)["id"]))

    def vouch(self, task: TaskId) -> None:
        self._ask("POST", f"/api/tasks/{task}/vouch", {})

    def look_back(self) -> TaskId:
        return TaskId(str(self._ask("POST", "/api/reflections", {}, unanswered.new_key())["id"]))

    def revert_rules(self, change: int | None, *, force: bool) -> JsonMap:
        said: JsonMap = {"change": change, "force": force}
        return self._ask("POST", "/api/lessons/revert", said)

    def permit(self, contact: str, channel: str, policy: Policy) -> JsonMap:
        said: JsonMap = {"contact": contact, "channel": channel, "policy": policy.value}
        return self._ask("POST", "/api/contacts/permissions", said)

    def switch_on(self, channel: str) -> JsonMap:
        return self._ask("POST", f"/api/channels/{channel}/on", {})

    def sync_calendars(self) -> int:
        return int(str(self._ask("POST", "/api/calendars/sync", {})["noted"]))

    def start_cue(self, name: str) -> JsonMap:
        return self._ask("POST", f"/api/cues/{name}/start", {})

    def test_notice(self, way: str) -> JsonMap:
        return self._ask("POST", "/api/notices/test", {"way": way})

    def background(self) -> JsonMap:
        """Return the loops of the running Remit, and their state."""
        return self._ask("GET", "/api/background")

    def recall_state(self) -> JsonMap:
        return self._ask("GET", "/api/recall")

    def rebuild_recall(self, told: Callable[[float], None]) -> JsonMap:
        state = self._ask("POST", "/api/recall/rebuild", {})
        while not state["trouble"] and (so_far := part(state)) < 1:
            told(so_far)
            clock.pause(_LOOK_AGAIN)
            state = self.recall_state()
        return state

    def turn_recall_off(self) -> JsonMap:
        return self._ask("DELETE", "/api/recall")

    def find_like(self, like: str, limit: int) -> JsonMap:
        return self._ask("GET", f"/api/search?like={quote(like, safe='')}&limit={limit}")

    def make_token(
        self, name: str, scopes: frozenset[Scope], *, agent: bool, days: int | None
    ) -> JsonMap:
        wanted: list[Json] = [scope.value for scope in Scope if scope in scopes]
        said: JsonMap = {"name": name, "scopes": wanted, "agent": agent, "days": days}
        return self._ask("POST", "/api/tokens", said, repeatable=False)

    def revoke_token(self, token_id: str) -> JsonMap:
        return self._ask("DELETE", f"/api/tokens/{token_id}")

    def invite(self) -> str:
        """Return a link that signs a browser in, once."""
        return str(self._ask("POST", "/api/sign-ins", {}, repeatable=False)["url"])

    def begin_talk(self) -> str:
        return str(self._ask("POST", "/api/conversations", {})["id"])

    def say(self, talk: str, text: str) -> int:
        """Add a turn to a conversation; return its number."""
        path, key = f"/api/conversations/{quote(talk, safe='')}/turns", unanswered.new_key()
        said = self._ask("POST", path, {"text": text}, key)
        return int(str(cast("JsonMap", said["turn"])["turnNumber"]))

    def rest(self, watch: EventWatch, timeout: float | None) -> Task:
        """Wait until the task rests; the running Remit does the work."""
        until = None if timeout is None else clock.seconds() + timeout
        gone = self._link.absence()
        while True:
            gone.check(watch.task_id)
            task = watch.look()
            if task is not None and watch.rests(task):
                return task
            if until is not None and clock.seconds() >= until:
                raise TimedOut(
                    f"Task {watch.task_id} did not come to rest within {timeout:g} s; it goes on."
                )
            clock.pause(PAUSE)

    def close(self) -> None:
        self._link.close()

    def _act(self, task: TaskId, action: str) -> JsonMap:
        return self._ask("PATCH", f"/api/tasks/{task}", {"action": action})

    def _ask(
        self,
        method: str,
        path: str,
        body: "JsonMap | None" = None,
        key: str | None = None,
        *,
        repeatable: bool = True,
    ) -> JsonMap:
        """Send a request; one that creates a task has a key that outlives this command."""
        text = None if body is None else json.dumps(body)
        if key is None:
            request = ClientRequest(method, path, text, unanswered.new_key(), repeatable)
            return self._answer(request)
        with unanswered.key_for(self._home, f"{method} {path} {text}", key) as used:
            return self._answer(ClientRequest(method, path, text, used))

    def _answer(self, request: ClientRequest) -> JsonMap:
        status, raw = self._link.ask(request)
        answer = _read(raw)
        if status >= HTTPStatus.BAD_REQUEST:
            raise _refusal(status, answer)
        return answer


def reach(home: Path, *, quiet: float = connection.QUIET_SECONDS) -> RemoteClient | str:
    """Return the Remit of this directory, or why it cannot be reached."""
    link = connection.connect(home, quiet=quiet)
    return link if isinstance(link, str) else RemoteClient(home, link)


def _when(said: TaskOrder | MessageOrder) -> JsonMap:
    often = said.repeats
    if often is not None:
        first = stamp(often.first)
        return {"repeats": {"rule": often.rule, "zone": often.zone, "first": first}}
    return {"scheduledFor": stamp(said.scheduled_for)} if said.scheduled_for else {}


def _read(raw: bytes) -> JsonMap:
    try:
        found = json.loads(raw) if raw else {}
    except ValueError:
        return {}
    return cast("JsonMap", found) if isinstance(found, dict) else {}


def _refusal(status: int, problem: JsonMap) -> ServerRefusal:
    code = next((code for known, code in _CODES.items() if known == status), codes.FAILED)
    kind = str(problem.get("type", "")).rpartition(":")[2] or "failed"
    sentence = problem.get("detail") or problem.get("title") or f"The running Remit said {status}."
    return ServerRefusal(str(sentence), code, kind)
