"""Labelled messages, and how well a reader does on them."""
