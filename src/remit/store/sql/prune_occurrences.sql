DELETE FROM occurrences WHERE state = 'dropped' AND start_at < :before;
