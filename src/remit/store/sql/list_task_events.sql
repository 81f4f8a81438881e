SELECT * FROM events WHERE task_id = :task AND n > :n ORDER BY n LIMIT :limit;
