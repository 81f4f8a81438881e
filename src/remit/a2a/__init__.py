"""The A2A server: other agents find Remit and give it tasks over the A2A protocol."""
