"""Closed patterns that read messages without a model."""
