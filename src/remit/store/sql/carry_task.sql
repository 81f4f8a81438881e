-- A task of an older installation goes again where it once went; its time is over.
UPDATE tasks
   SET status = :to, resume_to = :resume_to, queue = CASE WHEN :to = 'ready' THEN 0 ELSE queue END,
       due_at = NULL, started_at = COALESCE(:started_at, started_at),
       completed_at = :completed_at, events = events + 1, updated_at = :now
 WHERE id = :id
RETURNING events;
