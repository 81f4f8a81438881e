-- name: hold_due_slots
-- The owner restored a backup: an occurrence that was due by now may have run. It is asked about.
UPDATE tasks SET due_at = NULL
 WHERE slot_at IS NOT NULL AND started_at IS NULL AND worker IS NULL
   AND ((status = 'ready' AND due_at <= :now) OR (status = 'new' AND scheduled_for <= :now))
   AND NOT EXISTS (SELECT 1 FROM reviews WHERE task_id = tasks.id AND decided_at IS NULL)
RETURNING id;
