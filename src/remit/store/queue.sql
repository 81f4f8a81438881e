-- name: rank_task
-- prioritise: new -> ready, only while no review is open, once the words are read, and if nothing is
-- left open by the request: several tasks may wait for one card, which belongs to the first of them.
UPDATE tasks
   SET status = 'ready', priority = :priority, queue = :queue,
       due_at = CASE WHEN scheduled_for > :now THEN scheduled_for ELSE :now END,
       details = json_set(details, '$.rule', json(:rule)),
       events = events + 1, updated_at = :now
 WHERE id = :id AND status = 'new' AND details ->> 'pending_reading' IS NULL
   AND details -> 'gaps' ->> 0 IS NULL
   AND NOT EXISTS (SELECT 1 FROM reviews WHERE task_id = :id AND decided_at IS NULL)
RETURNING events, due_at;

-- name: clear_task_due
-- A question about the request is open: the engine need not look again until it is decided.
UPDATE tasks SET due_at = NULL WHERE id = :id AND status = 'new';

-- name: due_moment
SELECT :now AS now;

-- name: list_outlook
-- For each rank the first task that is due, and the first one after; the last rank is of new tasks.
SELECT column1 AS queue,
       (SELECT MIN(due_at) FROM tasks WHERE queue = column1 AND due_at <= :now) AS due,
       (SELECT MIN(due_at) FROM tasks WHERE queue = column1 AND due_at > :now) AS later
  FROM (VALUES (0), (1), (2), (3), (4)) AS ranks;

-- name: list_orphans
-- Held by a worker that is not this one: its process is gone, for we hold the directory's lock.
SELECT * FROM tasks WHERE worker IS NOT NULL AND worker <> :worker;

-- name: list_due_doubts
-- Due tasks of which a message may be out. They only need a look or a question, so they go first.
SELECT * FROM tasks INDEXED BY tasks_by_status
 WHERE status = 'delivering' AND due_at <= :now
   AND EXISTS (
     SELECT 1 FROM deliveries
      WHERE task_id = tasks.id AND (deliveries.status = 'sending' OR deliveries.status = 'unknown'))
   AND NOT EXISTS (
     SELECT 1 FROM tasks AS other
      WHERE other.session_id = tasks.session_id AND other.worker IS NOT NULL)
 ORDER BY no
 LIMIT :limit;

-- name: list_due
-- The oldest due tasks of one rank whose session is free and whose source is not at its limit. What
-- is ready and asked about all the same is held since a restore.
SELECT * FROM tasks
 WHERE queue = :queue AND due_at <= :now
   AND (crashes < :deaths OR :suspects)
   AND (:full = '[]' OR source_kind NOT IN (SELECT value FROM json_each(:full)))
   AND (status <> 'ready' OR NOT EXISTS (
     SELECT 1 FROM reviews WHERE task_id = tasks.id AND decided_at IS NULL))
   AND NOT EXISTS (
     SELECT 1 FROM tasks AS other
      WHERE other.session_id = tasks.session_id AND other.worker IS NOT NULL)
 ORDER BY due_at, no
 LIMIT :limit;

-- name: claim_task
-- Take the lease: its number rises, so every older holder is fenced off.
UPDATE tasks
   SET status = :to, worker = :worker, run_id = :run, leg_at = :now, lease = lease + 1,
       due_at = NULL, started_at = COALESCE(started_at, :now),
       events = events + 1, updated_at = :now
 WHERE id = :id AND lease = :lease AND worker IS NULL AND due_at IS NOT NULL
RETURNING events, started_at;

-- name: release_orphan
UPDATE tasks
   SET status = :to, reason = :reason, resume_to = :resume_to, due_at = :due_at,
       worker = NULL, run_id = NULL, leg_at = NULL, lease = lease + 1, crashes = crashes + :deaths,
       wish = CASE WHEN :to = 'needs_review' THEN NULL ELSE wish END,
       events = events + 1, updated_at = :now
 WHERE id = :id AND worker = :worker
RETURNING events;

-- name: get_score
SELECT score, why FROM scores WHERE digest = :digest;

-- name: insert_score
-- Who came first is right: a task that was ranked by it is not explained by another.
INSERT INTO scores (digest, score, why, at) VALUES (:digest, :score, :why, :now)
ON CONFLICT (digest) DO NOTHING;
