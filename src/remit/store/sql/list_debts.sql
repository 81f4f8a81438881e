-- What a task failed at itself is no reason to ask more of it.
SELECT path, at, reason FROM debts
 WHERE project = :project AND at > :since AND task_id <> :but ORDER BY at, reason, path;
