SELECT COUNT(*) AS n FROM (
  SELECT no FROM tasks INDEXED BY tasks_ended
   WHERE status = 'failed' AND completed_at >= :since AND seen_at IS NULL AND deleted_at IS NULL
   LIMIT :searched);
