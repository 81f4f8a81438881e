-- name: edit_task
-- The owner changes what has not begun.
UPDATE tasks
   SET title = :title, instructions = :instructions, type = :type, scheduled_for = :scheduled_for,
       priority = :priority, queue = CASE WHEN queue = 4 THEN 4 ELSE :queue END,
       precomposed = :precomposed, parcels = :parcels, details = :details, contract_type = :contract_type,
       due_at = CASE WHEN status <> 'ready' THEN due_at
                     WHEN :scheduled_for > CAST(:now AS BIGINT) THEN :scheduled_for
                     ELSE :now END,
       events = events + 1, updated_at = :now
 WHERE id = :id AND worker IS NULL AND started_at IS NULL
   AND (status IN ('new', 'ready') OR status = 'paused' AND resume_to IN ('new', 'ready'))
RETURNING events;

-- name: readdress_task
-- A text that waits for the owner goes to somebody else.
UPDATE tasks
   SET precomposed = :precomposed, parcels = :parcels, details = :details, events = events + 1,
       updated_at = :now
 WHERE id = :id AND worker IS NULL AND status IN ('new', 'needs_review')
RETURNING events;
