SELECT * FROM events WHERE task_id = :task ORDER BY n DESC LIMIT :limit;
