-- An occurrence that was not begun when the next one was due.
UPDATE tasks
   SET status = 'cancelled', due_at = NULL, wish = NULL, completed_at = :now, result_summary = :why,
       events = events + 1, updated_at = :now
 WHERE id = :id
RETURNING events;
