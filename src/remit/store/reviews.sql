-- name: insert_review
INSERT INTO reviews (id, task_id, key, reason, question, evidence, about, digest, resume_to,
  opened_at)
VALUES (:id, :task, :key, :reason, :question, :evidence, :about, :digest, :resume_to, :now);

-- name: get_review
SELECT * FROM reviews WHERE id = :id;

-- name: list_open_reviews
SELECT * FROM reviews WHERE decided_at IS NULL ORDER BY opened_at LIMIT :limit;

-- name: list_open_reviews_about
-- Every open question that waits for one thing.
SELECT * FROM reviews INDEXED BY reviews_open
 WHERE decided_at IS NULL AND reason = :reason AND about IS NOT DISTINCT FROM :about
 ORDER BY opened_at;

-- name: list_tasks_with_open_reviews
-- Which of these wait for an answer of the owner.
SELECT DISTINCT task_id FROM reviews
 WHERE task_id IN (SELECT value FROM json_each(:tasks)) AND decided_at IS NULL;

-- name: count_unstarted_with_reviews
SELECT COUNT(DISTINCT task_id) AS tasks FROM reviews
 WHERE decided_at IS NULL
   AND (SELECT status FROM tasks WHERE tasks.id = reviews.task_id) = 'new';

-- name: list_task_reviews
-- The questions of a task, and the open card of its message, if that belongs to another task of it.
SELECT * FROM reviews WHERE task_id = :task
UNION ALL
SELECT * FROM reviews
 WHERE decided_at IS NULL AND task_id <> :task AND about >= 'card:' AND about < 'card;'
   AND instr(about, :task) > 0
   AND (SELECT status FROM tasks WHERE id = :task) IN ('new', 'paused')
 ORDER BY opened_at;

-- name: set_review_task
-- The task that a card belonged to was cancelled; another one waits for the same answer.
UPDATE reviews SET task_id = :task WHERE id = :id AND decided_at IS NULL;

-- name: reopen_review
-- What the owner had written stays with the question, for him alone.
UPDATE reviews
   SET decided_at = NULL, answer = NULL, answer_text = COALESCE(answer_text, ''),
       decided_by = NULL, later_until = NULL
 WHERE id = :id AND decided_at IS NOT NULL;

-- name: reopen_task
UPDATE tasks
   SET status = :to, reason = :reason, resume_to = :resume_to, due_at = NULL, wish = NULL,
       events = events + 1, updated_at = :now
 WHERE id = :id AND status = :was AND worker IS NULL
RETURNING events;

-- name: decide_review
UPDATE reviews
   SET decided_at = :now, answer = :answer, answer_text = :text, decided_by = :by
 WHERE id = :id AND decided_at IS NULL;

-- name: rename_review
-- A question under another key answers nothing that the run asks.
UPDATE reviews SET key = :key WHERE id = :id;

-- name: decide_delivery
-- The owner settles a doubt that no machine may settle; what was reported before is answered by it.
UPDATE deliveries
   SET status = :to, reason = :why, doubted_at = NULL, reported = NULL,
       sent_at = CASE WHEN :to = 'sent' THEN CAST(:now AS BIGINT) END
 WHERE id = :id AND status = 'unknown';

-- name: resume_task
UPDATE tasks
   SET status = :to, reason = NULL, resume_to = CASE WHEN :to = 'paused' THEN resume_to END,
       due_at = :due_at,
       deleted_at = CASE WHEN wish = 'delete' AND :to = 'cancelled' THEN :now END,
       wish = CASE WHEN :to = 'cancelled' THEN NULL ELSE COALESCE(wish, :wish) END,
       round = round + :back, attempts = 0, crashes = 0,
       completed_at = COALESCE(completed_at, :completed_at),
       details = CASE WHEN :said IS NULL THEN details ELSE json_set(details, '$.notes',
         json_insert(COALESCE(details -> '$.notes', json('[]')), '$[#]', :said)) END,
       events = events + 1, updated_at = :now
 WHERE id = :id AND status = :was AND worker IS NULL
RETURNING events;
