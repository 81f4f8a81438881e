INSERT INTO runs (id, task_id, lease, worker, started_at, ended_at, outcome, note)
VALUES (:id, :task, :lease, :worker, :started_at, :now, :outcome, :note);
