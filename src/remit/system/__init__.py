"""Shared ground below the rooms: what they need from the machine."""
