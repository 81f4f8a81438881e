"""The outside world to Cue."""
