-- name: list_next_starts
SELECT * FROM (
  SELECT DISTINCT ON (uid) occurrences.* FROM occurrences
    LEFT JOIN tasks ON state = 'given' AND tasks.id = occurrences.task_id
   WHERE start_at >= :now
     AND (state = 'planned' OR (state = 'given' AND started_at IS NULL AND completed_at IS NULL))
   ORDER BY uid, start_at)
 ORDER BY start_at LIMIT :limit;
