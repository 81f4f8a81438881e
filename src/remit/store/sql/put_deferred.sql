-- Work that was sent back after it was merged is put off anew.
INSERT INTO deferred (task_id, place, project, branch, ends, name, criterion, paths, since_at)
VALUES (:task, :place, :project, :branch, :ends, :name, :criterion, :paths, :now)
ON CONFLICT (task_id, place) DO UPDATE
   SET project = excluded.project, branch = excluded.branch, ends = excluded.ends,
       name = excluded.name, criterion = excluded.criterion, paths = excluded.paths,
       since_at = excluded.since_at, settled_at = NULL, finding = NULL;
