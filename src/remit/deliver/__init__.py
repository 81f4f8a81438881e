"""Deliverable to Receipt."""
