SELECT * FROM occurrences INDEXED BY occurrences_by_start
 WHERE start_at >= :since AND start_at < :until AND state <> 'dropped'
 ORDER BY start_at LIMIT :limit;
