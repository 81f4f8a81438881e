-- An answer changed what was asked for; only before the work has begun.
UPDATE tasks
   SET title = :title, instructions = :instructions, type = :type, scheduled_for = :scheduled_for,
       precomposed = :precomposed, parcels = :parcels, details = :details,
       events = events + 1, updated_at = :now
 WHERE id = :id AND (status = 'new' OR status = 'paused' AND resume_to = 'new') AND worker IS NULL
RETURNING events;
