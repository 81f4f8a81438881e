"""Strict readers of file formats. Pure, below all rooms."""
