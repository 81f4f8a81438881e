UPDATE tasks SET due_at = :now, events = events + 1, updated_at = :now
 WHERE id = :id AND worker IS NULL AND status IN ('ready', 'running', 'verifying', 'delivering')
RETURNING events;
