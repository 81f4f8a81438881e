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
