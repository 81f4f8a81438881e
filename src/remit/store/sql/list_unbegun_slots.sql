-- Occurrences shortly before a slot that have not begun, wait for nobody, and were not put off; with
-- `restored` those too that are asked about since a restore.
SELECT task, status, slot_at FROM (
  SELECT id AS task, status, worker, slot_at, started_at, scheduled_for
    FROM tasks INDEXED BY tasks_by_slot
   WHERE series_id = :series AND slot_at < :slot ORDER BY slot_at DESC LIMIT 300)
 WHERE (status = 'new' OR status = 'ready') AND worker IS NULL AND started_at IS NULL
   AND (scheduled_for IS NULL OR scheduled_for <= :now)
   AND NOT EXISTS (SELECT 1 FROM reviews WHERE task_id = task AND decided_at IS NULL
                      AND (NOT :restored OR about IS NOT 'restored'));
