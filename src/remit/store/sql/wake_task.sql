-- There is news for a task that waits for it.
UPDATE tasks SET due_at = :now, updated_at = :now
 WHERE id = :id AND status = 'delivering' AND worker IS NULL AND due_at > :now;
