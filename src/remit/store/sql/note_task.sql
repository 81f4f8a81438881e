-- Something happened to a task that needs no lease.
UPDATE tasks SET events = events + 1, updated_at = :now WHERE id = :id RETURNING events;
