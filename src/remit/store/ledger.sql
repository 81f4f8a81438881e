-- name: list_ledger_skips
SELECT * FROM skips
 WHERE series_id = :series AND upto_at >= :since AND from_at < :until ORDER BY from_at;

-- name: list_ledger_tasks
-- What became of the slots that got a task; what was deleted is hidden, not undone.
SELECT id, slot_at, status, scheduled_for, created_at, started_at, completed_at, result_summary
  FROM tasks INDEXED BY tasks_by_slot
 WHERE series_id = :series AND slot_at >= :since AND slot_at < :until
 ORDER BY slot_at LIMIT :limit;

-- name: list_latest_slots
SELECT slot_at FROM tasks INDEXED BY tasks_by_slot
 WHERE series_id = :series AND slot_at < :until ORDER BY slot_at DESC LIMIT :limit;
