INSERT INTO debts (project, path, task_id, kind, at, reason)
VALUES (:project, :path, :task, :kind, :now, :reason)
ON CONFLICT DO NOTHING;
