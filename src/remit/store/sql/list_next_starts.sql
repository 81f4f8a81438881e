-- The next start of each event that has not begun; a bare column is that of the smallest start.
SELECT occurrences.*, MIN(start_at) FROM occurrences INDEXED BY occurrences_by_start
  LEFT JOIN tasks ON state = 'given' AND tasks.id = occurrences.task_id
 WHERE start_at >= :now
   AND (state = 'planned' OR (state = 'given' AND started_at IS NULL AND completed_at IS NULL))
 GROUP BY uid ORDER BY start_at LIMIT :limit;
