"""What starts work besides messages: times, series, cron, folders, commands."""
