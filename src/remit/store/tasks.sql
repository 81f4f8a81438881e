-- name: insert_task
-- The same cue twice is the same task: the second insert changes nothing.
INSERT INTO tasks (
  id, type, source_kind, source_ref, title, instructions, status, priority, queue, due_at,
  session_id, series_id, slot_at, precomposed, parcels, events, created_by, taint, assigned_agent,
  created_at, updated_at, scheduled_for, retry_of, details, contract_type
) VALUES (
  :id, :type, :source_kind, :source_ref, :title, :instructions, 'new', :priority, 4, :now,
  :session_id, :series_id, :slot_at, :precomposed, :parcels, 1, :created_by, :taint,
  :assigned_agent, :now, :now, :scheduled_for, :retry_of, :details, :contract_type
)
ON CONFLICT (source_kind, source_ref) DO NOTHING;

-- name: get_task_by_source
SELECT * FROM tasks WHERE source_kind = :kind AND source_ref = :ref;

-- name: insert_delivery
INSERT INTO deliveries (id, task_id, n, part, channel, recipient, content, status)
VALUES (:id, :task, :n, 0, :channel, :recipient, :content, 'pending');

-- name: amend_task
-- An answer changed what was asked for; only before the work has begun.
UPDATE tasks
   SET title = :title, instructions = :instructions, type = :type, scheduled_for = :scheduled_for,
       precomposed = :precomposed, parcels = :parcels, details = :details,
       contract_type = :contract_type, events = events + 1, updated_at = :now
 WHERE id = :id AND (status = 'new' OR status = 'paused' AND resume_to = 'new') AND worker IS NULL
RETURNING events;

-- name: set_read_message
-- The words of a stored message are read: the task is now the first thing that they ask for.
UPDATE tasks
   SET title = :title, instructions = :instructions, type = :type, scheduled_for = :scheduled_for,
       precomposed = :precomposed, parcels = :parcels, assigned_agent = :assigned_agent,
       priority = :priority, due_at = :now, details = :details,
       contract_type = :contract_type, events = events + 1, updated_at = :now
 WHERE id = :id AND status = 'new' AND details ->> 'pending_reading' IS NOT NULL
RETURNING events;

-- name: delete_deliveries
-- What was planned is planned anew; whatever has been on its way stays.
DELETE FROM deliveries WHERE task_id = :task AND status = 'pending';

-- name: get_task
SELECT * FROM tasks WHERE id = :id;

-- name: list_assigned_tasks
SELECT * FROM tasks
 WHERE assigned_agent = :agent AND deleted_at IS NULL ORDER BY no DESC LIMIT :most;

-- name: set_task_deleted
UPDATE tasks
   SET deleted_at = :deleted_at, events = events + 1, updated_at = :now
 WHERE id = :id AND status IN ('completed', 'failed', 'cancelled')
RETURNING events;

-- name: count_by_status
-- Counted along two small indexes: all of a status, less what was deleted.
SELECT status, CAST(SUM(tasks) AS BIGINT) AS tasks FROM (
  SELECT status, COUNT(*) AS tasks FROM tasks GROUP BY status
  UNION ALL
  SELECT status, -COUNT(*) FROM tasks WHERE deleted_at IS NOT NULL GROUP BY status
) GROUP BY status HAVING SUM(tasks) > 0;

-- name: count_deleted
SELECT COUNT(*) AS tasks FROM tasks INDEXED BY tasks_deleted
 WHERE status = :status AND deleted_at IS NOT NULL;

-- name: count_status
-- How many stand so and are not deleted, up to a number; `gone` is how many are deleted.
SELECT COUNT(*) - CAST(:gone AS BIGINT) AS tasks FROM (
  SELECT no FROM tasks INDEXED BY tasks_by_status WHERE status = :status
   LIMIT CAST(:most AS BIGINT) + CAST(:gone AS BIGINT));

-- name: list_task_ids_like
SELECT id FROM tasks WHERE id >= :begin AND id < :end ORDER BY id LIMIT 3;

-- name: list_planned_tasks
-- What is open and planned for a time between two moments.
SELECT * FROM tasks INDEXED BY tasks_planned
 WHERE scheduled_for >= :since AND scheduled_for < :until AND completed_at IS NULL
 ORDER BY scheduled_for, no LIMIT :limit;

-- name: list_ended_tasks
-- What ended so between two moments and had been planned for a time.
SELECT * FROM tasks INDEXED BY tasks_ended
 WHERE status = :status AND completed_at >= :since AND completed_at < :until
   AND scheduled_for IS NOT NULL AND deleted_at IS NULL
 ORDER BY completed_at LIMIT :limit;

-- name: list_task_statuses
-- How some tasks stand, by their names.
SELECT id, title, status, wish, worker, deleted_at FROM tasks
 WHERE id IN (SELECT value FROM json_each(:tasks));

-- name: list_children
-- Along the index that makes sources unique.
SELECT source_ref FROM tasks
WHERE source_kind = :kind AND source_ref >= :begin AND source_ref < :end
ORDER BY source_ref LIMIT :limit;

-- name: record_task_event
-- Something happened to a task that needs no lease.
UPDATE tasks SET events = events + 1, updated_at = :now WHERE id = :id RETURNING events;

-- name: list_ended_between
-- What ended in a span of time, the latest first.
SELECT * FROM tasks
 WHERE status IN ('completed', 'failed', 'cancelled')
   AND completed_at >= :since AND completed_at <= :until AND deleted_at IS NULL
 ORDER BY completed_at DESC, no DESC LIMIT :limit;

-- name: list_tasks_by_id
-- Some tasks by their ids, whether they were deleted or not.
SELECT * FROM tasks WHERE id IN (SELECT value FROM json_each(:tasks));

-- name: cancel_read_message
-- The words of a stored message are read, and ask for nothing.
UPDATE tasks
   SET status = 'cancelled', due_at = NULL, completed_at = :now, result_summary = :summary,
       details = json_remove(details, '$.pending_reading'),
       events = events + 1, updated_at = :now
 WHERE id = :id AND status = 'new' AND details ->> 'pending_reading' IS NOT NULL
RETURNING events;

-- name: list_file_references
-- What names a file by its hash: tasks, and messages that have come in. `gone`: its task is deleted.
SELECT CAST(details AS TEXT) AS said,
       COALESCE(deleted_at, CAST(:before AS BIGINT)) < CAST(:before AS BIGINT) AS gone
  FROM tasks WHERE CAST(details AS TEXT) LIKE '%sha256%'
 UNION ALL
SELECT CAST(inbound.body AS TEXT) AS said,
       COALESCE(tasks.deleted_at, CAST(:before AS BIGINT)) < CAST(:before AS BIGINT) AS gone
  FROM inbound LEFT JOIN tasks ON tasks.id = inbound.task_id
 WHERE CAST(inbound.body AS TEXT) LIKE '%sha256%';
