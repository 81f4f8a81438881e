SELECT * FROM deferred WHERE settled_at IS NULL ORDER BY since_at, task_id, place;
