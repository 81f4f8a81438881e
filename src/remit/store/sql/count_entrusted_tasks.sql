-- How many tasks of one other agent there are, up to a number.
SELECT COUNT(*) AS tasks FROM (
  SELECT 1 FROM tasks
  WHERE source_kind = 'agent' AND source_ref >= :first AND source_ref < :end
    AND deleted_at IS NULL
    AND (:session IS NULL OR session_id = :session)
    AND (:since IS NULL OR updated_at >= :since)
    AND (:statuses IS NULL OR instr(:statuses, ' ' || status || ' ') > 0)
  LIMIT :limit
);
