"""Webhooks: signed events to other programs, and signed calls from them."""
