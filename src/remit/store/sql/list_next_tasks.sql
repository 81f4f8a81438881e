-- What comes next by the clock.
SELECT * FROM tasks INDEXED BY tasks_planned
 WHERE scheduled_for > :now AND completed_at IS NULL AND status IN ('new', 'ready')
 ORDER BY scheduled_for, no LIMIT :limit;
