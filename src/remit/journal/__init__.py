"""What happened: append-only, followed live, written out as one log a task."""
