-- name: put_deferred
-- Work that was sent back after it was merged is put off anew.
INSERT INTO deferred (task_id, place, project, branch, ends, name, criterion, paths, since_at)
VALUES (:task, :place, :project, :branch, :ends, :name, :criterion, :paths, :now)
ON CONFLICT (task_id, place) DO UPDATE
   SET project = excluded.project, branch = excluded.branch, ends = excluded.ends,
       name = excluded.name, criterion = excluded.criterion, paths = excluded.paths,
       since_at = excluded.since_at, settled_at = NULL, finding = NULL;

-- name: list_deferred
SELECT * FROM deferred WHERE settled_at IS NULL ORDER BY since_at, task_id, place;

-- name: list_task_deferred
SELECT * FROM deferred WHERE task_id = :task AND settled_at IS NULL ORDER BY place;

-- name: list_open_project_tasks
-- What is open of the work on a project. A row that cannot be read is of no document.
SELECT id, series_id, started_at,
       CASE WHEN json_valid(details) THEN details -> 'context' ->> 'prd' END AS prd
  FROM tasks
 WHERE assigned_agent = :agent AND completed_at IS NULL;

-- name: settle_deferred
UPDATE deferred SET settled_at = :now, finding = :finding
 WHERE task_id = :task AND place = :place AND settled_at IS NULL;

-- name: settle_verdict
-- What is found after a task has ended; nobody holds it any more.
UPDATE tasks
   SET details = json_set(details, '$.verdict', json(:verdict)),
       unproven = CASE WHEN contract_type <> 'advisory' THEN :unproven ELSE 0 END,
       events = events + 1, updated_at = :now
 WHERE id = :id AND completed_at IS NOT NULL
RETURNING events;
