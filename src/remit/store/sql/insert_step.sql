INSERT INTO steps (task_id, round, name, output, ended_at) VALUES (?, ?, ?, ?, ?);
