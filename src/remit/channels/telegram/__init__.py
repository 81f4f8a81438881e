"""Telegram: a bot of the owner's, both ways, without a public address."""
