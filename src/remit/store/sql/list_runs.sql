SELECT * FROM runs WHERE task_id = :task ORDER BY lease DESC LIMIT :limit;
