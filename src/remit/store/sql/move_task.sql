-- One guarded move: nobody who does not hold the lease, and nothing that has moved on, gets past.
UPDATE tasks
   SET status = :to, details = COALESCE(:details, details),
       taint = COALESCE(:details ->> '$.taint', taint),
       events = events + 1, updated_at = :now
 WHERE id = :id AND status = :was AND lease = :lease AND worker IS NOT NULL
RETURNING events, wish;
