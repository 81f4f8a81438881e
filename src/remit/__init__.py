"""Remit: work entrusted to an agent, proven, and sent exactly once."""

__version__ = "0.1.0"
