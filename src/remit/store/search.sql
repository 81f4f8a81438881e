-- name: count_planned
-- How many of the newest tasks that are ready wait for a time; along two indexes.
SELECT COUNT(*) AS tasks FROM (
  SELECT no FROM tasks INDEXED BY tasks_by_status
   WHERE status = 'ready' ORDER BY no DESC LIMIT :most) AS ready
 WHERE EXISTS (
  SELECT 1 FROM tasks INDEXED BY tasks_scheduled WHERE type = 'scheduled' AND no = ready.no);

-- name: count_views
SELECT COUNT(*) AS n FROM views WHERE name <> :name;

-- name: insert_view
INSERT INTO views (name, filter, created_at) VALUES (:name, :filter, :now)
ON CONFLICT (name) DO UPDATE SET filter = excluded.filter;

-- name: list_views
SELECT * FROM views ORDER BY name;

-- name: delete_view
DELETE FROM views WHERE name = :name;

-- name: find_word
-- The first word of the index at or after these letters; the words between are not walked.
SELECT term FROM tasks_words WHERE term >= :from LIMIT 1;

-- name: count_hits
-- How many tasks hold these words, up to a number.
SELECT COUNT(*) AS hits FROM (SELECT 1 FROM tasks_text WHERE tasks_text MATCH :text LIMIT :most);

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
