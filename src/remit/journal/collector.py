"""Exports spans and metrics over OTLP to the address in the environment."""

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from remit import __version__
from remit.journal.telemetry import NAME, Telemetry


def telemetry(spans: SpanProcessor | None = None, numbers: MetricReader | None = None) -> Telemetry:
    """Build the telemetry with its exporters; a test passes its own."""
    who = Resource.create({"service.name": NAME, "service.version": __version__})
    reader = numbers or PeriodicExportingMetricReader(OTLPMetricExporter())
    meters = MeterProvider([reader], resource=who, shutdown_on_exit=False)
    tracers = TracerProvider(resource=who, shutdown_on_exit=False)
    tracers.add_span_processor(spans or BatchSpanProcessor(OTLPSpanExporter()))

    def close() -> None:
        tracers.shutdown()
        meters.shutdown()

    return Telemetry(
        tracers.get_tracer(NAME, __version__), meters.get_meter(NAME, __version__), close
    )
