-- What a session completed since it was last summed up, oldest first. Of a long one the newest part
-- is looked at; whatever ended late, after a question, is found there too.
SELECT tasks.*
  FROM (SELECT no FROM tasks WHERE session_id = :session ORDER BY no DESC LIMIT :limit)
 CROSS JOIN tasks USING (no)
 WHERE tasks.status = 'completed' AND tasks.deleted_at IS NULL AND tasks.id <> :task
   AND (tasks.completed_at > :upto_at OR tasks.completed_at = :upto_at AND tasks.no > :upto
        OR tasks.no > :highest)
 ORDER BY tasks.completed_at, tasks.no;
