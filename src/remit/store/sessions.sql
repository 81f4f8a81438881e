-- name: list_session_runs
-- What a session completed since it was last summed up, oldest first. Of a long one the newest part
-- is looked at; whatever ended late, after a question, is found there too.
SELECT tasks.*
  FROM (SELECT no FROM tasks WHERE session_id = :session ORDER BY no DESC LIMIT :limit) AS newest
 CROSS JOIN tasks
 WHERE tasks.no = newest.no AND tasks.status = 'completed' AND tasks.deleted_at IS NULL
   AND tasks.id <> :task
   AND (tasks.completed_at > :upto_at OR tasks.completed_at = :upto_at AND tasks.no > :upto
        OR tasks.no > :highest)
 ORDER BY tasks.completed_at, tasks.no;

-- name: list_session_tasks
-- The other tasks of a session, newest first, however they stand.
SELECT * FROM tasks
WHERE session_id = :session AND id <> :task
ORDER BY no DESC LIMIT :limit;

-- name: put_session_summary
-- The summary only ever goes further: who is late changes nothing.
INSERT INTO sessions (id, summary, upto_at, upto, runs, since, taint, highest)
VALUES (:id, :summary, :upto_at, :upto, :runs, :since, :taint, :highest)
ON CONFLICT (id) DO UPDATE
   SET summary = :summary, upto_at = :upto_at, upto = :upto, runs = :runs, taint = :taint,
       highest = :highest
 WHERE sessions.upto_at < :upto_at
    OR sessions.upto_at = :upto_at AND (sessions.upto < :upto OR sessions.highest < :highest);

-- name: get_session
SELECT * FROM sessions WHERE id = :id;

-- name: list_session_turns
-- What the last round of some tasks thought, turn by turn, in no order.
SELECT steps.task_id, steps.name,
       CASE WHEN :whole THEN steps.output ->> 'state' END AS state,
       COALESCE(length(steps.output ->> 'state'), 0) AS size,
       COALESCE(json_array_length(steps.output -> 'calls'), 0) AS calls,
       COALESCE(CAST(steps.output -> 'usage' ->> 'context' AS BIGINT), 0) AS context
  FROM tasks CROSS JOIN steps
 WHERE steps.task_id = tasks.id AND steps.round = tasks.round
   AND tasks.id IN (SELECT value FROM json_each(:tasks))
   AND (steps.name = 'execute_tool' OR substr(steps.name, 1, 13) = 'execute_tool:');

-- name: list_corrections
-- What the owner said about the work of a session, newest first; not what he said of the request.
SELECT reviews.answer, reviews.answer_text, reviews.question, tasks.taint
  FROM tasks CROSS JOIN reviews
 WHERE reviews.task_id = tasks.id
   AND tasks.session_id = :session AND tasks.id <> :task AND reviews.resume_to <> 'new'
   AND (reviews.answer = 'back' OR reviews.answer = 'answer' OR
        reviews.answer = 'edit' AND tasks.taint = 'owner'
        AND substr(COALESCE(reviews.about, ''), 1, 5) <> 'call:')
   AND reviews.answer_text IS NOT NULL
 ORDER BY tasks.no DESC
 LIMIT :limit;

-- name: list_reported
-- What a session has sent, newest first.
SELECT tasks.id, tasks.taint, deliveries.body, deliveries.sent_at
  FROM tasks CROSS JOIN deliveries
 WHERE deliveries.task_id = tasks.id
   AND tasks.session_id = :session AND tasks.id <> :task AND tasks.deleted_at IS NULL
   AND deliveries.status = 'sent' AND deliveries.body IS NOT NULL AND deliveries.sent_at IS NOT NULL
 ORDER BY tasks.no DESC
 LIMIT :limit;
