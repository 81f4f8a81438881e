"""Reflection: records ended tasks, looks for patterns, and makes proposals to the owner."""
