-- name: list_next_tasks
-- What comes next by the clock.
SELECT * FROM tasks INDEXED BY tasks_planned
 WHERE scheduled_for > :now AND completed_at IS NULL AND status IN ('new', 'ready')
 ORDER BY scheduled_for, no LIMIT :limit;

-- name: count_ended
-- How many ended so, hour by hour.
SELECT (completed_at - :since) / 3600000 AS hour, COUNT(*) AS n FROM tasks INDEXED BY tasks_ended
 WHERE status = :status AND completed_at >= :since AND completed_at < :until GROUP BY 1;
