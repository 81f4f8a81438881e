"""What starts work besides a message: times, series, cron, folders, commands."""
