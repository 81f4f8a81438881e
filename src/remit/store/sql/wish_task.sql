-- Noted for the next boundary; a task that no leg holds is made due, so that one comes.
UPDATE tasks
   SET wish = :wish, due_at = CASE WHEN worker IS NULL THEN :now ELSE due_at END,
       events = events + 1, updated_at = :now
 WHERE id = :id
RETURNING events;
