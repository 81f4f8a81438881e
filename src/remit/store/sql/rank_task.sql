-- prioritise: new -> ready, only while no review is open, once the words are read, and if nothing is
-- left open by the request: several tasks may wait for one card, which belongs to the first of them.
UPDATE tasks
   SET status = 'ready', priority = :priority, queue = :queue,
       due_at = MAX(COALESCE(scheduled_for, 0), :now),
       details = json_set(details, '$.rule', json(:rule)),
       events = events + 1, updated_at = :now
 WHERE id = :id AND status = 'new' AND details ->> '$.pending_reading' IS NULL
   AND json_extract(details, '$.gaps[0]') IS NULL
   AND NOT EXISTS (SELECT 1 FROM reviews WHERE task_id = :id AND decided_at IS NULL)
RETURNING events, due_at;
