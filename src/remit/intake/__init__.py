"""Cue to Task."""
