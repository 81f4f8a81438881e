-- What one other agent entrusted, newest first: along the index that makes sources unique.
SELECT * FROM tasks
WHERE source_kind = 'agent' AND source_ref >= :first AND source_ref < :end
  AND deleted_at IS NULL
  AND (:before IS NULL OR id < :before)
  AND (:session IS NULL OR session_id = :session)
  AND (:since IS NULL OR updated_at >= :since)
  AND (:statuses IS NULL OR instr(:statuses, ' ' || status || ' ') > 0)
ORDER BY id DESC LIMIT :limit;
