"""Reading requests without a model: messages in a second, in three languages."""

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from bench.measure import Measurement, Stopwatch, read_peak_bytes, take_percentile, time_calls
from remit.contacts import ChannelName, Contact, ContactBook
from remit.intake.plain_reader import read_plainly

NOW = datetime(2026, 3, 4, 9, tzinfo=UTC)
ZONE = ZoneInfo("Europe/Berlin")
BOOK = ContactBook(
    Contact("you", channels=("dashboard", "whatsapp", "email")),
    tuple(ChannelName(name, name) for name in ("dashboard", "whatsapp", "email")),
    (Contact("Anna Berg", channels=("whatsapp",)), Contact("Bob", channels=("email",))),
)
MESSAGES = (
    "Research kid-friendly Bangkok attractions and send me the list on WhatsApp",
    'In two minutes send Anna "Dinner is ready" on WhatsApp',
    "Every weekday at 8:30 prepare the standup notes and email them to Bob",
    "Erinnere mich morgen um 9 Uhr daran, den Zahnarzt anzurufen",
    "Vergleiche die Preise von drei Hotels in Rom und schicke Anna das Ergebnis per WhatsApp",
    "Recuérdame mañana a las diez que llame a mi madre",
    "Thanks, that was great!",
    "Look up the weather for Oslo, then write a packing list. Do not send anything to Bob.",
    "Remind me on Friday at 18:00 to water the plants, and find a plumber for next week",
)


def run(size: int, home: Path) -> list[Measurement]:
    del home
    watch = Stopwatch()
    with watch:
        for n in range(size):
            read_plainly(MESSAGES[n % len(MESSAGES)], now=NOW, zone=ZONE, book=BOOK)
    long = " ".join(MESSAGES) * 10
    spans = time_calls(lambda: read_plainly(long, now=NOW, zone=ZONE, book=BOOK), 5)
    cost = (watch.wall_seconds, watch.cpu_seconds, read_peak_bytes())
    return [
        Measurement("messages", size / watch.wall_seconds, "1/s", size, *cost),
        Measurement(
            "one of 6,000 characters",
            take_percentile(spans, 50),
            "ms",
            5,
            *cost,
            better="less",
            facts={"characters": len(long)},
        ),
    ]
