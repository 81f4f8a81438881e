"""Labelled messages, and how well a reader handles them."""
