-- Something happened to a task that its leaseholder may write down.
UPDATE tasks
   SET events = events + :count, updated_at = :now, details = COALESCE(:details, details),
       taint = COALESCE(:details ->> '$.taint', taint)
 WHERE id = :id AND lease = :lease AND worker IS NOT NULL
RETURNING events, round, wish;
