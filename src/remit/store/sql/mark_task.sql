UPDATE tasks
   SET deleted_at = :deleted_at, events = events + 1, updated_at = :now
 WHERE id = :id AND status IN ('completed', 'failed', 'cancelled')
RETURNING events;
