-- The oldest due tasks of one rank whose session is free and whose source is not at its limit. What
-- is ready and asked about all the same is held since a restore.
SELECT * FROM tasks
 WHERE queue = :queue AND due_at <= :now
   AND (crashes = 0 OR :suspects)
   AND (:full = '[]' OR source_kind NOT IN (SELECT value FROM json_each(:full)))
   AND (status <> 'ready' OR NOT EXISTS (
     SELECT 1 FROM reviews WHERE task_id = tasks.id AND decided_at IS NULL))
   AND NOT EXISTS (
     SELECT 1 FROM tasks AS other
      WHERE other.session_id = tasks.session_id AND other.worker IS NOT NULL)
 ORDER BY due_at, no
 LIMIT :limit;
