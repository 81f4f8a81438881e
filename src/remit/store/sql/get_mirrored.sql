SELECT * FROM mirrored WHERE task_id = :task;
