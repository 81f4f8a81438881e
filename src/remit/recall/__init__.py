"""Recall: earlier runs of the same session, and similar earlier tasks."""
