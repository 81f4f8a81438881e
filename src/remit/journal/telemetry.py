"""Exports the journal as spans and metrics, if the extra is installed.

They are made from stored events, so nothing waits for a collector. No content is exported: only
step names, statuses, channel answers and task ids; never a title, a text, a person or an address.
"""

import asyncio
import os
import threading
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from remit import __version__
from remit.journal.follow import Journal
from remit.model.run import Event, EventKind

if TYPE_CHECKING:  # the extra may not be installed
    from opentelemetry.metrics import Meter
    from opentelemetry.sdk.metrics.export import MetricReader
    from opentelemetry.sdk.trace import SpanProcessor
    from opentelemetry.trace import Span, Tracer

NAME: Final = "remit"
ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
PARTING: Final = 3.0  # seconds allowed for the last export
_MOST_RUNS: Final = 1_000  # runs followed at once; beyond that the oldest are dropped


class NoOtlp(Exception):
    """An endpoint is configured, but the extra that exports is not installed."""

    def __init__(self) -> None:
        super().__init__(
            f"{ENDPOINT} is set, but nothing can be sent there: install `remit[otel]`."
        )


class _Leg(Struct):
    """A running leg, and when its last event was."""

    span: "Span"
    at: datetime


class Telemetry(Struct):
    """Makes a span of each run and step, and counts events."""

    tracer: "Tracer"
    meter: "Meter"
    close: Callable[[], None] = lambda: None
    seq: int = 0  # the last event handled, or skipped after an error
    _legs: dict[str, _Leg] = field(default_factory=dict)
    _asked: dict[str, datetime] = field(default_factory=dict)

    def note(self, event: Event) -> None:
        """Record one event; events come in order."""
        match event.kind:
            case EventKind.TASK_MOVED:
                self._record_move(event)
            case EventKind.RUN_STARTED:
                self._begin(event)
            case EventKind.STEP_DONE:
                self._step(event)
            case EventKind.RUN_ENDED:
                self._end(event)
            case EventKind.DELIVERY_SETTLED:
                self._count("remit.deliveries", answer=str(event.data.get("answer")))
            case EventKind.REVIEW_OPENED:
                self._asked[str(event.data.get("review"))] = event.at
                self._count("remit.reviews", reason=str(event.data.get("reason")))
            case EventKind.REVIEW_DECIDED:
                self._record_decision(event)
            case _:
                pass

    def _record_move(self, event: Event) -> None:
        self._count("remit.moves", to=str(event.data.get("to")))
        if "lease" in event.data:
            self._begin(event)
        elif "outcome" in event.data:
            self._end(event)

    def _begin(self, event: Event) -> None:
        known: dict[str, str | int] = {"remit.task.id": str(event.task_id)}
        known["remit.lease"] = _number(event)
        span = self.tracer.start_span("remit.run", attributes=known, start_time=_ns(event.at))
        if len(self._legs) >= _MOST_RUNS:
            self._legs.pop(next(iter(self._legs))).span.end()
        self._legs[str(event.data.get("run"))] = _Leg(span, event.at)

    def _step(self, event: Event) -> None:
        from opentelemetry.trace import set_span_in_context  # noqa: PLC0415 - an extra

        name = str(event.data.get("step"))
        node = name.partition(":")[0]
        leg = self._legs.get(str(event.data.get("run")))
        if leg is None:  # it began before the start
            return
        known = {"remit.step": name, "remit.task.id": str(event.task_id)}
        within = set_span_in_context(leg.span)
        span = self.tracer.start_span(node, within, attributes=known, start_time=_ns(leg.at))
        span.end(_ns(event.at))
        seconds = (event.at - leg.at).total_seconds()
        self._measure("remit.step.duration", seconds, step=node)
        leg.at = event.at

    def _end(self, event: Event) -> None:
        outcome = str(event.data.get("outcome"))
        self._count("remit.runs", outcome=outcome)
        leg = self._legs.pop(str(event.data.get("run")), None)
        if leg is not None:
            leg.span.set_attribute("remit.outcome", outcome)
            leg.span.end(_ns(event.at))

    def _record_decision(self, event: Event) -> None:
        opened = self._asked.pop(str(event.data.get("review")), None)
        if opened is not None:
            self._measure("remit.review.age", (event.at - opened).total_seconds())

    def _count(self, name: str, **known: str) -> None:
        self.meter.create_counter(name).add(1, known)

    def _measure(self, name: str, seconds: float, **known: str) -> None:
        self.meter.create_histogram(name, unit="s").record(max(0.0, seconds), known)


def configured_exporter() -> Telemetry | None:
    """Return the exporter that the environment asks for, or None; may raise `NoOtlp`."""
    if not os.environ.get(ENDPOINT):
        return None
    try:
        return exporter()
    except ImportError:
        raise NoOtlp from None


def exporter(
    spans: "SpanProcessor | None" = None, numbers: "MetricReader | None" = None
) -> Telemetry:
    """Export over OTLP to the address in the environment; a test passes its own exporters."""
    from opentelemetry.exporter.otlp.proto.http import (  # noqa: PLC0415 - an extra
        metric_exporter,
        trace_exporter,
    )
    from opentelemetry.sdk import metrics, resources, trace  # noqa: PLC0415 - an extra
    from opentelemetry.sdk.metrics.export import (  # noqa: PLC0415 - an extra
        PeriodicExportingMetricReader,
    )
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - an extra

    who = resources.Resource.create({"service.name": NAME, "service.version": __version__})
    reader = numbers or PeriodicExportingMetricReader(metric_exporter.OTLPMetricExporter())
    meters = metrics.MeterProvider([reader], resource=who, shutdown_on_exit=False)
    tracers = trace.TracerProvider(resource=who, shutdown_on_exit=False)
    tracers.add_span_processor(spans or BatchSpanProcessor(trace_exporter.OTLPSpanExporter()))

    def close() -> None:
        tracers.shutdown()
        meters.shutdown()

    return Telemetry(
        tracers.get_tracer(NAME, __version__), meters.get_meter(NAME, __version__), close
    )


async def keep_told(journal: Journal, since: int, telemetry: Telemetry) -> None:
    """Record every event after a place until the journal ends."""
    async for event in journal.follow(max(since, telemetry.seq), ends=True):
        telemetry.seq = event.seq  # before: what cannot be told of is left out, and none twice
        telemetry.note(event)


async def flush(telemetry: Telemetry | None) -> None:
    """Export what is left; an unreachable collector does not delay the exit."""
    if telemetry is not None:
        parting = threading.Thread(target=telemetry.close, daemon=True)
        parting.start()
        await asyncio.to_thread(parting.join, PARTING)


def _ns(at: datetime) -> int:
    return round(at.timestamp() * 1_000_000) * 1_000


def _number(event: Event) -> int:
    lease = event.data.get("lease")
    return lease if isinstance(lease, int) else 0
