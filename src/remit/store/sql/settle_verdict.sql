-- What is found after a task has ended; nobody holds it any more.
UPDATE tasks
   SET details = json_set(details, '$.verdict', json(:verdict)),
       events = events + 1, updated_at = :now
 WHERE id = :id AND completed_at IS NOT NULL
RETURNING events;
