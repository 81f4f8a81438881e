-- Starts with a task whose time is past, that has not begun, waits for nobody, and was not put off.
SELECT occurrences.*, scheduled_for FROM tasks INDEXED BY tasks_planned
  JOIN occurrences ON uid = json_extract(details, '$.context.uid') AND task_id = tasks.id
 WHERE scheduled_for < :before AND completed_at IS NULL AND source_kind = 'caldav'
   AND (tasks.status = 'new' OR tasks.status = 'ready') AND worker IS NULL AND started_at IS NULL
   AND state = 'given'
   AND NOT EXISTS (SELECT 1 FROM reviews WHERE task_id = tasks.id AND decided_at IS NULL);
