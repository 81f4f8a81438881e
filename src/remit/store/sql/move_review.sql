-- The task that a card belonged to was cancelled; another one waits for the same answer.
UPDATE reviews SET task_id = :task WHERE id = :id AND decided_at IS NULL;
