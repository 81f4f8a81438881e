"""WHEN things run: claims, leases, timers, retries, and the end of a process."""
