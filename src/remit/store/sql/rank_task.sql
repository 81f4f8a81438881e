-- prioritise: new -> ready, only while no review is open and once the words are read.
UPDATE tasks
   SET status = 'ready', priority = :priority, queue = :queue,
       due_at = MAX(COALESCE(scheduled_for, 0), :now),
       details = json_set(details, '$.rule', json(:rule)),
       events = events + 1, updated_at = :now
 WHERE id = :id AND status = 'new' AND details ->> '$.pending_reading' IS NULL
   AND NOT EXISTS (SELECT 1 FROM reviews WHERE task_id = :id AND decided_at IS NULL)
RETURNING events, due_at;
