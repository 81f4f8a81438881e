"""Start work without a message: times, series, cron, folders, commands."""
