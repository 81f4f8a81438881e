-- name: record_leg_event
-- Something happened to a task that its leaseholder may write down.
UPDATE tasks
   SET events = events + :count, updated_at = :now, details = COALESCE(:details, details),
       taint = COALESCE(:details ->> 'taint', taint),
       contract_type = COALESCE(:details -> 'contract' ->> 'type', contract_type)
 WHERE id = :id AND lease = :lease AND worker IS NOT NULL
RETURNING events, round, wish;

-- name: insert_step
INSERT INTO steps (task_id, round, name, output, ended_at) VALUES (?, ?, ?, ?, ?);

-- name: list_steps
SELECT name, output FROM steps WHERE task_id = :task AND round = :round;

-- name: last_watch_look
SELECT steps.output FROM tasks JOIN steps ON steps.task_id = tasks.id AND steps.name = :step
 WHERE tasks.session_id = :session AND tasks.id <> :id AND tasks.status = 'completed'
 ORDER BY tasks.no DESC, steps.round DESC LIMIT 1;

-- name: list_attempt_steps
-- Who tried, what was left and what was found, in every round.
SELECT round, name, output, ended_at FROM steps
 WHERE task_id = :task
   AND (substr(name, 1, 12) = 'execute_tool' OR substr(name, 1, 5) = 'look:'
        OR substr(name, 1, 6) = 'verify');

-- name: insert_run
INSERT INTO runs (id, task_id, lease, worker, started_at, ended_at, outcome, note)
VALUES (:id, :task, :lease, :worker, :started_at, :now, :outcome, :note);

-- name: list_runs
SELECT * FROM runs WHERE task_id = :task ORDER BY lease DESC LIMIT :limit;

-- name: record_heartbeat
INSERT INTO workers (id, started_at, beat_at) VALUES (:id, :now, :now)
ON CONFLICT (id) DO UPDATE SET beat_at = :now;

-- name: end_worker
UPDATE workers SET ended_at = :now, beat_at = :now WHERE id = :id;

-- name: previous_end
-- How the run before in this series ended, and why it failed.
SELECT id, status, (SELECT note FROM runs WHERE task_id = tasks.id ORDER BY lease DESC LIMIT 1) AS note
  FROM tasks
 WHERE series_id = :series AND id <> :id AND status IN ('completed', 'failed')
 ORDER BY no DESC LIMIT 1;
