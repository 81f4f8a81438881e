"""Conversation with the owner: each turn is stored, understood by code, and answered once."""
