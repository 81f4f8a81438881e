-- name: count_planned
-- How many of the newest tasks that are ready wait for a time; along two indexes.
SELECT COUNT(*) AS tasks FROM (
  SELECT no FROM tasks INDEXED BY tasks_by_status
   WHERE status = 'ready' ORDER BY no DESC LIMIT :most) AS ready
 WHERE EXISTS (
  SELECT 1 FROM tasks INDEXED BY tasks_scheduled WHERE type = 'scheduled' AND no = ready.no);
