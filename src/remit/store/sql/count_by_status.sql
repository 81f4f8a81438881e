-- Counted along two small indexes: all of a status, less what was deleted.
SELECT status, SUM(tasks) AS tasks FROM (
  SELECT status, COUNT(*) AS tasks FROM tasks GROUP BY status
  UNION ALL
  SELECT status, -COUNT(*) FROM tasks WHERE deleted_at IS NOT NULL GROUP BY status
) GROUP BY status HAVING SUM(tasks) > 0;
