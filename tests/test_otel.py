"""Spans and numbers from the journal: the SDK's own exporters hear them, and no word of content."""

import gzip
import json
import signal
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar, Final

import pytest
from opentelemetry.sdk.metrics.export import InMemoryMetricReader, NumberDataPoint
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from remit.journal import telemetry
from remit.journal.telemetry import ENDPOINT, Telemetry
from remit.model.ids import ReviewId, TaskId
from remit.model.review import Decision, ReviewAnswer
from remit.model.run import Event, EventKind
from remit.model.status import Actor
from remit.store import events
from remit.testing import FrozenClock
from tests.cli.terminal import LIMIT, Terminal
from tests.server.served import Served

SECRETS: Final = ("giraffe", "Lumphini", "looked around", "Single", "visa")


class Heard:
    """What a collector would have been sent."""

    def __init__(self) -> None:
        self._spans, self._numbers = InMemorySpanExporter(), InMemoryMetricReader()
        self.telemetry = telemetry.exporter(SimpleSpanProcessor(self._spans), self._numbers)

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self._spans.get_finished_spans())

    def numbers(self) -> dict[str, dict[str, int]]:
        """How many there are of each, by name and then by what they are of."""
        told = self._numbers.get_metrics_data()
        assert told is not None
        found: dict[str, dict[str, int]] = {}
        for metric in told.resource_metrics[0].scope_metrics[0].metrics:
            for point in metric.data.data_points:
                of = ",".join(str(each) for each in (point.attributes or {}).values())
                count = point.value if isinstance(point, NumberDataPoint) else point.count
                found.setdefault(metric.name, {})[of] = int(count)
        return found


@pytest.fixture
def heard() -> Iterator[Heard]:
    made = Heard()
    yield made
    made.telemetry.close()


def lived(folder: Path, telemetry: Telemetry) -> str:
    """A task that asks, is answered and is done; then its journal is told, event by event."""
    with Served(folder, works=True) as app:
        task = app.add("Compare giraffes, with a visa")
        app.settle()
        (asked,) = app.do(app.app.inbox.waiting())
        decision = Decision(ReviewAnswer.ANSWER, "Single")
        app.do(app.app.inbox.decide(ReviewId(str(asked.id)), decision))
        app.settle()

        async def told() -> list[Event]:
            return await app.app.db.read(events.list_after, 0, 1_000)

        for event in app.do(told()):
            telemetry.note(event)
        return task


def test_each_run_is_a_span_and_each_step_a_span_in_it(tmp_path: Path, heard: Heard) -> None:
    task = lived(tmp_path, heard.telemetry)
    runs = [span for span in heard.spans if span.name == "remit.run"]
    steps = [span for span in heard.spans if span.name != "remit.run"]
    within = {run.context.span_id: run for run in runs if run.context}

    assert [(run.attributes or {})["remit.outcome"] for run in runs] == ["wait", "done"]
    assert {span.name for span in steps} >= {"plan_step", "retrieve_context", "execute_tool"}
    assert all(span.parent and span.parent.span_id in within for span in steps)
    assert {(span.attributes or {})["remit.task.id"] for span in heard.spans} == {task}
    assert all(span.end_time and span.start_time for span in heard.spans)
    assert all((span.end_time or 0) >= (span.start_time or 1) for span in heard.spans)


def test_what_happened_is_counted(tmp_path: Path, heard: Heard) -> None:
    lived(tmp_path, heard.telemetry)
    told = heard.numbers()

    assert told["remit.moves"]["completed"] == 1
    assert told["remit.runs"] == {"wait": 1, "done": 1}
    assert told["remit.reviews"] == {"input": 1}
    assert told["remit.review.age"] == {"": 1}
    assert told["remit.deliveries"] == {"accepted": 1}
    assert told["remit.step.duration"]["plan_step"] == 1


def test_no_word_of_what_a_task_is_about_is_told(tmp_path: Path, heard: Heard) -> None:
    lived(tmp_path, heard.telemetry)
    told = "".join(span.to_json() for span in heard.spans) + str(heard.numbers())

    assert len(heard.spans) > 5
    assert [word for word in SECRETS if word.casefold() in told.casefold()] == []


def test_a_run_that_began_before_anybody_listened_is_left_out(heard: Heard) -> None:
    at, task = FrozenClock().now(), TaskId("task-1")
    step = Event(1, task, 1, EventKind.STEP_DONE, Actor.EXECUTOR, at, {"step": "x", "run": "r"}, "")
    end = Event(2, task, 2, EventKind.RUN_ENDED, Actor.EXECUTOR, at, {"outcome": "retry"}, "")
    heard.telemetry.note(step)
    heard.telemetry.note(end)

    assert heard.spans == []
    assert heard.numbers() == {"remit.runs": {"retry": 1}}


def test_nothing_is_told_where_nobody_asked_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(ENDPOINT, raising=False)

    assert telemetry.configured_exporter() is None


def test_who_asks_for_it_without_the_extra_is_told_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:9/")
    # By its full name: what another test imported before is found as an attribute.
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.metrics.export", None)

    with pytest.raises(telemetry.NoOtlp, match=r"install `remit\[otel\]`"):
        telemetry.configured_exporter()


class Collector(BaseHTTPRequestHandler):
    """Takes whatever is sent, and remembers where to and how much."""

    got: ClassVar[dict[str, bytes]] = {}

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            sent = gzip.decompress(sent)
        self.got[self.path] = self.got.get(self.path, b"") + sent
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def _up(seat: Terminal, endpoint: str) -> int:
    """Remit, up until a task is done, and how it ended."""
    process = seat.start("up", "--port", "0", "--json", **{ENDPOINT: endpoint})
    try:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["event"] == "up"
        seat.until(seat.add("Find two parks, giraffe"), "completed")
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=LIMIT)
    return process.wait(LIMIT)


def test_a_collector_is_sent_the_runs_and_steps_of_a_running_remit(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        code = _up(Terminal(tmp_path), f"http://127.0.0.1:{server.server_port}")
        server.shutdown()

    assert code == 0
    assert b"execute_tool" in Collector.got["/v1/traces"]
    assert b"remit.runs" in Collector.got["/v1/metrics"]
    assert b"giraffe" not in b"".join(Collector.got.values())


def test_a_collector_that_is_away_keeps_nothing_from_its_end(tmp_path: Path) -> None:
    assert _up(Terminal(tmp_path), "http://127.0.0.1:9/") == 0
