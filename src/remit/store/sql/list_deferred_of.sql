SELECT * FROM deferred WHERE task_id = :task AND settled_at IS NULL ORDER BY place;
