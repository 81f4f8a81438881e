-- name: list_caller_tasks
-- What one caller created, newest first, and the runs of its series: along the index of sources.
WITH own AS (
  SELECT id FROM tasks
  WHERE source_kind IN ('agent', 'manual') AND source_ref >= :begin AND source_ref < :end
)
SELECT * FROM tasks
WHERE id IN (
    SELECT id FROM own
    UNION
    SELECT run.id FROM own JOIN tasks AS run ON run.series_id = 'ser-' || substr(own.id, 6)
  )
  AND deleted_at IS NULL
  AND (CAST(:before AS TEXT) IS NULL OR id < :before)
  AND (CAST(:session AS TEXT) IS NULL OR session_id = :session)
  AND (CAST(:since AS BIGINT) IS NULL OR updated_at >= :since)
  AND (CAST(:statuses AS TEXT) IS NULL OR instr(:statuses, ' ' || status || ' ') > 0)
ORDER BY id DESC LIMIT :limit;

-- name: count_caller_tasks
-- How many tasks one caller created, with the runs of its series, up to a number.
WITH own AS (
  SELECT id FROM tasks
  WHERE source_kind IN ('agent', 'manual') AND source_ref >= :begin AND source_ref < :end
)
SELECT COUNT(*) AS tasks FROM (
  SELECT 1 FROM tasks
  WHERE id IN (
      SELECT id FROM own
      UNION
      SELECT run.id FROM own JOIN tasks AS run ON run.series_id = 'ser-' || substr(own.id, 6)
    )
    AND deleted_at IS NULL
    AND (CAST(:session AS TEXT) IS NULL OR session_id = :session)
    AND (CAST(:since AS BIGINT) IS NULL OR updated_at >= :since)
    AND (CAST(:statuses AS TEXT) IS NULL OR instr(:statuses, ' ' || status || ' ') > 0)
  LIMIT :limit
);
