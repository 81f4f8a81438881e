-- name: pause_series
UPDATE series SET paused_at = :now, due_at = NULL
 WHERE id = :id AND ended_at IS NULL AND paused_at IS NULL;

-- name: resume_series
-- It goes on with the next slot; those that came meanwhile are passed over.
UPDATE series SET paused_at = NULL, last_at = :last_at, due_at = :last_at
 WHERE id = :id AND ended_at IS NULL AND paused_at IS NOT NULL;

-- name: delete_skip
-- The owner wants a slot all the same that he had left out.
DELETE FROM skips WHERE series_id = :series AND from_at = :slot AND slots = 1;

-- name: list_occurrences
SELECT * FROM tasks INDEXED BY tasks_by_series WHERE series_id = :series AND deleted_at IS NULL
 ORDER BY no DESC LIMIT :limit;

-- name: list_unstarted_occurrences
-- The occurrences that wait for their time.
SELECT * FROM (
  SELECT * FROM tasks INDEXED BY tasks_by_series WHERE series_id = :series AND slot_at IS NOT NULL
   ORDER BY no DESC LIMIT 20)
 WHERE started_at IS NULL AND worker IS NULL AND status IN ('new', 'ready', 'paused')
 ORDER BY slot_at;

-- name: repeat_series
-- It runs at other times from now on.
UPDATE series
   SET rule = :rule, zone = :zone, first_at = :first_at, last_at = :last_at,
       due_at = CASE WHEN paused_at IS NULL THEN CAST(:last_at AS BIGINT) END
 WHERE id = :id AND ended_at IS NULL;
