-- name: insert_debt
INSERT INTO debts (project, path, task_id, kind, at, reason)
VALUES (:project, :path, :task, :kind, :now, :reason)
ON CONFLICT DO NOTHING;

-- name: list_debts
-- What a task failed at itself is no reason to ask more of it.
SELECT path, at, reason FROM debts
 WHERE project = :project AND at > :since AND task_id <> :but ORDER BY at, reason, path;
