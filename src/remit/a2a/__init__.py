"""Remit as an agent that other agents find and entrust work to, by the A2A protocol."""
