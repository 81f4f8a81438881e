SELECT * FROM reviews WHERE task_id = :task ORDER BY opened_at;
