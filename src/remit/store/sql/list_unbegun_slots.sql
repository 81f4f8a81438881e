-- Occurrences shortly before a slot that have not begun, and wait for nobody.
SELECT task, status FROM (
  SELECT id AS task, status, worker FROM tasks INDEXED BY tasks_by_slot
   WHERE series_id = :series AND slot_at < :slot ORDER BY slot_at DESC LIMIT 20)
 WHERE (status = 'new' OR status = 'ready') AND worker IS NULL
   AND NOT EXISTS (SELECT 1 FROM reviews WHERE task_id = task AND decided_at IS NULL);
