-- What became of the slots that got a task; what was deleted is hidden, not undone.
SELECT id, slot_at, status, scheduled_for, created_at, started_at, completed_at, result_summary
  FROM tasks INDEXED BY tasks_by_slot
 WHERE series_id = :series AND slot_at >= :since AND slot_at < :until
 ORDER BY slot_at LIMIT :limit;
