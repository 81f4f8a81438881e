SELECT * FROM deliveries WHERE task_id = :task ORDER BY n, part;
