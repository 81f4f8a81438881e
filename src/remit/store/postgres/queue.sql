-- name: list_due
-- As in the shared statement. The clock of the database decides, and what another process is about
-- to claim is left to it. Of queues without room, or without a worker, nothing is claimed.
SELECT * FROM tasks
 WHERE queue = :queue AND due_at <= remit_now(:now)
   AND (crashes < :deaths OR :suspects)
   AND (:full = '[]' OR source_kind NOT IN (SELECT value FROM json_each(:full)))
   AND (:closed = '[]' OR CASE WHEN assigned_agent LIKE 'project:%' THEN 'code' ELSE '' END
     NOT IN (SELECT value FROM json_each(:closed)))
   AND (status <> 'ready' OR NOT EXISTS (
     SELECT 1 FROM reviews WHERE task_id = tasks.id AND decided_at IS NULL))
   AND NOT EXISTS (
     SELECT 1 FROM tasks AS other
      WHERE other.session_id = tasks.session_id AND other.worker IS NOT NULL)
 ORDER BY due_at, no
 LIMIT :limit
 FOR NO KEY UPDATE SKIP LOCKED;

-- name: list_due_doubts
SELECT * FROM tasks
 WHERE status = 'delivering' AND due_at <= remit_now(:now)
   AND EXISTS (
     SELECT 1 FROM deliveries
      WHERE task_id = tasks.id AND (deliveries.status = 'sending' OR deliveries.status = 'unknown'))
   AND NOT EXISTS (
     SELECT 1 FROM tasks AS other
      WHERE other.session_id = tasks.session_id AND other.worker IS NOT NULL)
 ORDER BY no
 LIMIT :limit
 FOR NO KEY UPDATE SKIP LOCKED;

-- name: list_outlook
SELECT column1 AS queue,
       (SELECT MIN(due_at) FROM tasks WHERE queue = column1 AND due_at <= moment.now) AS due,
       (SELECT MIN(due_at) FROM tasks WHERE queue = column1 AND due_at > moment.now) AS later
  FROM (VALUES (0), (1), (2), (3), (4)) AS ranks, (SELECT remit_now(:now) AS now) AS moment;

-- name: due_moment
SELECT remit_now(:now) AS now;
