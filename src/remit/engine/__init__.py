"""The engine decides WHEN tasks run: claims, leases, timers, retries, shutdown."""
