INSERT INTO steps (task_id, round, name, output, ended_at)
VALUES (:task, :round, :name, :output, :now);
