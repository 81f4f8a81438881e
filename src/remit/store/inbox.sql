-- name: count_open_reviews
SELECT COALESCE(later_until, 0) > :now AS later, COUNT(*) AS n
  FROM reviews INDEXED BY reviews_open WHERE decided_at IS NULL GROUP BY 1;

-- name: count_unseen_results
-- As in `list_unseen_results`.
SELECT COUNT(*) AS n FROM (
  SELECT id, contract_type FROM tasks INDEXED BY tasks_ended
   WHERE status = 'completed' AND completed_at >= :since AND seen_at IS NULL AND deleted_at IS NULL
   ORDER BY completed_at DESC LIMIT :searched) AS ended
 WHERE contract_type = 'advisory'
    OR EXISTS (SELECT 1 FROM deliveries
                WHERE task_id = ended.id AND channel = 'dashboard' AND status = 'sent');

-- name: count_unseen_failures
SELECT COUNT(*) AS n FROM (
  SELECT no FROM tasks INDEXED BY tasks_ended
   WHERE status = 'failed' AND completed_at >= :since AND seen_at IS NULL AND deleted_at IS NULL
   LIMIT :searched);

-- name: list_waiting_reviews
-- Open questions, oldest first: those that are put off, or the others.
SELECT * FROM reviews INDEXED BY reviews_open
 WHERE decided_at IS NULL AND (opened_at, id) > (:opened_at, :after)
   AND (COALESCE(later_until, 0) > :now) = :later
 ORDER BY opened_at, id LIMIT :limit;

-- name: list_unseen_results
-- Results of late that are for the owner's own eyes, and that he has not looked at.
SELECT * FROM (
  SELECT * FROM tasks INDEXED BY tasks_ended
   WHERE status = 'completed' AND completed_at >= :since AND seen_at IS NULL AND deleted_at IS NULL
   ORDER BY completed_at DESC LIMIT :searched) AS ended
 WHERE contract_type = 'advisory'
    OR EXISTS (SELECT 1 FROM deliveries
                WHERE task_id = ended.id AND channel = 'dashboard' AND status = 'sent')
 LIMIT :limit;

-- name: list_unseen_failures
-- What failed of late and was not acknowledged.
SELECT * FROM tasks INDEXED BY tasks_ended
 WHERE status = 'failed' AND completed_at >= :since AND seen_at IS NULL AND deleted_at IS NULL
 ORDER BY completed_at DESC LIMIT :limit;

-- name: mark_task_seen
-- The owner has looked at how it ended. Nothing happened to the task itself.
UPDATE tasks SET seen_at = COALESCE(seen_at, :now) WHERE id = :id AND completed_at IS NOT NULL;

-- name: put_off_review
UPDATE reviews SET later_until = :until WHERE id = :id AND decided_at IS NULL;

-- name: list_next_tasks
-- What comes next by the clock.
SELECT * FROM tasks INDEXED BY tasks_planned
 WHERE scheduled_for > :now AND completed_at IS NULL AND status IN ('new', 'ready')
 ORDER BY scheduled_for, no LIMIT :limit;

-- name: count_ended
-- How many ended so, hour by hour.
SELECT (completed_at - :since) / 3600000 AS hour, COUNT(*) AS n FROM tasks INDEXED BY tasks_ended
 WHERE status = :status AND completed_at >= :since AND completed_at < :until GROUP BY 1;
