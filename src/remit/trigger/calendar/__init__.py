"""Calendars: what stands in them, when it would start, and who is asked for changes."""
