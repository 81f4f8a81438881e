"""Whether the environment asks for OTLP export."""

import os
from typing import Final

from remit.journal.telemetry import Telemetry

ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"


class NoOtlp(Exception):
    """An endpoint is configured, but the extra that exports is not installed."""

    def __init__(self) -> None:
        super().__init__(
            f"{ENDPOINT} is set, but nothing can be sent there: install `remit[otel]`."
        )


def configured() -> Telemetry | None:
    """Return the exporter that the environment asks for, or None; may raise `NoOtlp`."""
    if not os.environ.get(ENDPOINT):
        return None
    try:
        from remit.journal import collector  # noqa: PLC0415 - an extra
    except ImportError:
        raise NoOtlp from None
    return collector.telemetry()
