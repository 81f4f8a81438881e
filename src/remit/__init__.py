"""Remit runs tasks for AI agents: it checks the work and sends each result at most once."""

__version__ = "0.1.0"
