-- name: advance_series
-- Put in the next occurrence, once: who expected another last slot was too late.
UPDATE series
   SET last_at = :last_at, due_at = :due_at,
       ended_at = CASE WHEN CAST(:due_at AS BIGINT) IS NULL THEN CAST(:now AS BIGINT) END,
       why = CASE WHEN CAST(:due_at AS BIGINT) IS NULL THEN 'its rule names no further time' END
 WHERE id = :id AND last_at = :was AND due_at IS NOT NULL;

-- name: delay_slots
-- What is overdue with many others begins a little later; what was asked about or held waits anyway.
UPDATE tasks SET due_at = :due_at
 WHERE series_id = :series AND slot_at = :slot AND status = 'ready' AND worker IS NULL
   AND started_at IS NULL AND due_at <= :due_at;

-- name: find_overlapped
-- Whether an occurrence would begin while one before it is open, where that is forbidden. A series
-- that came from elsewhere has no row, and is as the settings say.
SELECT 1
 WHERE COALESCE((SELECT overlap FROM series WHERE id = :series),
                (SELECT value FROM meta WHERE key = 'overlap')) = 'skip'
   AND EXISTS (
     SELECT 1 FROM (
       SELECT started_at, completed_at FROM tasks INDEXED BY tasks_by_slot
        WHERE series_id = :series AND slot_at < :slot ORDER BY slot_at DESC LIMIT 100)
      WHERE started_at IS NOT NULL AND completed_at IS NULL);

-- name: list_latest_tasks
SELECT * FROM tasks INDEXED BY tasks_by_series WHERE series_id = :series ORDER BY no DESC LIMIT :limit;

-- name: list_stopping_slots
-- Occurrences that are at work and shall end.
SELECT * FROM tasks INDEXED BY tasks_by_series
 WHERE series_id = :series AND worker IS NOT NULL AND wish = 'cancel';

-- name: list_skips
SELECT * FROM skips WHERE series_id = :series ORDER BY from_at DESC LIMIT :limit;

-- name: skip_task
-- An occurrence that was not begun when the next one was due.
UPDATE tasks
   SET status = 'cancelled', due_at = NULL, wish = NULL, completed_at = :now, result_summary = :why,
       events = events + 1, updated_at = :now
 WHERE id = :id
RETURNING events;

-- name: insert_skip
-- A slot that was skipped before it came may turn out to be the first of several.
INSERT INTO skips (series_id, from_at, upto_at, slots, why, fate, at)
VALUES (:series, :from_at, :upto_at, :slots, :why, :fate, :now)
ON CONFLICT (series_id, from_at) DO UPDATE
   SET upto_at = CASE WHEN excluded.upto_at > skips.upto_at THEN excluded.upto_at
                      ELSE skips.upto_at END,
       slots = CASE WHEN excluded.slots > skips.slots THEN excluded.slots ELSE skips.slots END;

-- name: list_open_slots
-- Occurrences shortly before a slot that have begun and not ended, or were to begin before.
SELECT * FROM (
  SELECT * FROM tasks INDEXED BY tasks_by_slot
   WHERE series_id = :series AND slot_at < :slot ORDER BY slot_at DESC LIMIT 100)
 WHERE completed_at IS NULL AND (started_at IS NOT NULL OR :unbegun);

-- name: list_unstarted_slots
-- Occurrences shortly before a slot that have not begun, wait for nobody, and were not put off; with
-- `restored` those too that are asked about since a restore.
SELECT task, status, slot_at FROM (
  SELECT id AS task, status, worker, slot_at, started_at, scheduled_for
    FROM tasks INDEXED BY tasks_by_slot
   WHERE series_id = :series AND slot_at < :slot ORDER BY slot_at DESC LIMIT 300)
 WHERE (status = 'new' OR status = 'ready') AND worker IS NULL AND started_at IS NULL
   AND (scheduled_for IS NULL OR scheduled_for <= :now)
   AND NOT EXISTS (SELECT 1 FROM reviews WHERE task_id = task AND decided_at IS NULL
                      AND (NOT :restored OR about IS DISTINCT FROM 'restored'));

-- name: clear_task_slot
-- A task that was ended before it began leaves its place to the one that comes instead.
UPDATE tasks SET slot_at = NULL WHERE id = :id AND status = 'cancelled' AND started_at IS NULL;

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
