-- The oldest due tasks of one rank whose session is free and whose source is not at its limit.
SELECT * FROM tasks
 WHERE queue = :queue AND due_at <= :now
   AND (crashes = 0 OR :suspects)
   AND (:full = '[]' OR source_kind NOT IN (SELECT value FROM json_each(:full)))
   AND NOT EXISTS (
     SELECT 1 FROM tasks AS other
      WHERE other.session_id = tasks.session_id AND other.worker IS NOT NULL)
 ORDER BY due_at, no
 LIMIT :limit;
