-- name: move_task
-- One guarded move: nobody who does not hold the lease, and nothing that has moved on, gets past.
-- The steps that are recorded with it come before it. A move that heeds a wish of the owner is not
-- made if there is one; then the steps are all that is written.
UPDATE tasks
   SET status = CASE WHEN wish IS NULL OR NOT :heeds THEN :to ELSE status END,
       details = COALESCE(:details, details),
       taint = COALESCE(:details ->> 'taint', taint),
       contract_type = COALESCE(:details -> 'contract' ->> 'type', contract_type),
       events = events + :steps + CASE WHEN wish IS NULL OR NOT :heeds THEN 1 ELSE 0 END,
       updated_at = :now
 WHERE id = :id AND status = :was AND lease = :lease AND worker IS NOT NULL
RETURNING events, round, wish;

-- name: finish_task
-- The end of a leg: state, lease and outcome in one guarded write.
UPDATE tasks
   SET status = :to, reason = :reason, resume_to = :resume_to,
       due_at = CASE WHEN wish IS NULL OR :settles OR :to = 'needs_review'
                     THEN CAST(:due_at AS BIGINT) ELSE :now END,
       worker = NULL, run_id = NULL, leg_at = NULL,
       wish = CASE WHEN :settles THEN NULL ELSE wish END,
       deleted_at = CASE WHEN wish = 'delete' AND CAST(:completed_at AS BIGINT) IS NOT NULL
                         THEN :now END,
       attempts = :attempts, round = :round, crashes = 0,
       completed_at = COALESCE(completed_at, :completed_at),
       result_summary = COALESCE(:summary, result_summary), unproven = :unproven,
       details = COALESCE(:details, details),
       taint = COALESCE(:details ->> 'taint', taint),
       contract_type = COALESCE(:details -> 'contract' ->> 'type', contract_type),
       events = events + 1, updated_at = :now
 WHERE id = :id AND status = :was AND lease = :lease AND worker IS NOT NULL
RETURNING events;

-- name: make_task_due
UPDATE tasks SET due_at = :now, events = events + 1, updated_at = :now
 WHERE id = :id AND worker IS NULL AND status IN ('ready', 'running', 'verifying', 'delivering')
RETURNING events;

-- name: request_task_stop
-- Noted for the next boundary; a task that no leg holds is made due, so that one comes.
UPDATE tasks
   SET wish = :wish, due_at = CASE WHEN worker IS NULL THEN :now ELSE due_at END,
       events = events + 1, updated_at = :now
 WHERE id = :id
RETURNING events;

-- name: move_idle_task
-- The owner moves a task that no leg holds.
UPDATE tasks
   SET status = :to, reason = NULL, resume_to = :resume_to, due_at = :due_at, wish = :wish,
       completed_at = COALESCE(completed_at, :completed_at),
       events = events + 1, updated_at = :now
 WHERE id = :id AND status = :was AND worker IS NULL
RETURNING events;
