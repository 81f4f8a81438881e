"""The journal: append-only events, followed live and copied into one log per task."""
