-- name: insert_series
INSERT INTO series (
  id, session_id, title, rule, zone, first_at, last_at, due_at, template, created_at
) VALUES (
  :id, :session, :title, :rule, :zone, :first_at, :first_at, :first_at, :template, :now
)
ON CONFLICT (id) DO NOTHING;

-- name: set_task_slot
-- A task becomes the first occurrence of a series.
UPDATE tasks SET series_id = :series, slot_at = :slot WHERE id = :id;

-- name: get_series
SELECT * FROM series WHERE id = :id;

-- name: list_series
SELECT * FROM series WHERE id > :after AND (:ended OR ended_at IS NULL) ORDER BY id LIMIT :limit;

-- name: list_series_ids_like
SELECT id FROM series WHERE id >= :begin AND id < :end ORDER BY id LIMIT 3;

-- name: list_due_series
-- Series whose last occurrence is due, so that the next one must be put in.
SELECT * FROM series WHERE due_at <= :now ORDER BY due_at LIMIT :limit;

-- name: next_due_series
SELECT due_at FROM series WHERE due_at > :now ORDER BY due_at LIMIT 1;

-- name: end_series
UPDATE series SET due_at = NULL, ended_at = :now, why = :why WHERE id = :id AND ended_at IS NULL;

-- name: set_series_rules
UPDATE series
   SET missed = COALESCE(:missed, missed), overlap = COALESCE(:overlap, overlap)
 WHERE id = :id AND ended_at IS NULL;

-- name: list_coming_skips
-- Slots to come that the owner does not want.
SELECT from_at FROM skips WHERE series_id = :series AND from_at > :after AND slots = 1;

-- name: list_taken_slots
-- Slots to come that have an occurrence already: a clock that was ahead has put it in.
SELECT slot_at FROM tasks INDEXED BY tasks_by_slot WHERE series_id = :series AND slot_at > :after;

-- name: last_told_of_series
SELECT COALESCE(
         MAX(CASE WHEN id <> :id AND (seen_at IS NULL OR seen_at <> completed_at)
                  THEN completed_at END),
         MIN(created_at)) AS told
  FROM tasks WHERE series_id = :series;
