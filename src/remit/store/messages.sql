-- name: cancel_read_message
-- The words of a stored message are read, and ask for nothing.
UPDATE tasks
   SET status = 'cancelled', due_at = NULL, completed_at = :now, result_summary = :summary,
       details = json_remove(details, '$.pending_reading'),
       events = events + 1, updated_at = :now
 WHERE id = :id AND status = 'new' AND details ->> 'pending_reading' IS NOT NULL
RETURNING events;
