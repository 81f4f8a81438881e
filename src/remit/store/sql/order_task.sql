-- The owner moves a task that no leg holds.
UPDATE tasks
   SET status = :to, reason = NULL, resume_to = :resume_to, due_at = :due_at, wish = :wish,
       completed_at = COALESCE(completed_at, :completed_at),
       events = events + 1, updated_at = :now
 WHERE id = :id AND status = :was AND worker IS NULL
RETURNING events;
