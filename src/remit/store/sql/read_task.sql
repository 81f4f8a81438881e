-- The words of a stored message are read: the task is now the first thing that they ask for.
UPDATE tasks
   SET title = :title, instructions = :instructions, type = :type, scheduled_for = :scheduled_for,
       precomposed = :precomposed, parcels = :parcels, assigned_agent = :assigned_agent,
       priority = :priority, due_at = :now, details = :details,
       events = events + 1, updated_at = :now
 WHERE id = :id AND status = 'new' AND details ->> '$.pending_reading' IS NOT NULL
RETURNING events;
