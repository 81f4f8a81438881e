-- Take the lease: its number rises, so every older holder is fenced off.
UPDATE tasks
   SET status = :to, worker = :worker, run_id = :run, leg_at = :now, lease = lease + 1,
       due_at = NULL, started_at = COALESCE(started_at, :now),
       events = events + 1, updated_at = :now
 WHERE id = :id AND lease = :lease AND worker IS NULL AND due_at IS NOT NULL
RETURNING events, started_at;
