-- name: list_results_by_id
-- What a reminder says of tasks: what was sent first is their result. Who asks looks at the status:
-- here it would make SQLite search by it.
SELECT id, type, title, instructions, status, source_kind, source_ref, created_at, updated_at,
       completed_at, deleted_at, created_by, session_id, series_id, retry_of, taint,
       details ->> 'context' AS context,
       COALESCE((SELECT body FROM deliveries
                  WHERE task_id = tasks.id AND sent_at IS NOT NULL AND body <> ''
                  ORDER BY n LIMIT 1), result_summary) AS result_summary
  FROM tasks
 WHERE id IN (SELECT value FROM json_each(:tasks));

-- name: list_texts_by_id
SELECT id, title, instructions FROM tasks WHERE id IN (SELECT value FROM json_each(:tasks));

-- name: list_unread_tasks
-- Tasks that the index has not read, the newest first; below a number, for the next handful.
SELECT tasks.no, tasks.id FROM tasks LEFT JOIN snippets ON snippets.task_id = tasks.id
 WHERE tasks.no < :below AND tasks.deleted_at IS NULL AND snippets.task_id IS NULL
 ORDER BY tasks.no DESC LIMIT :limit;

-- name: put_snippet
INSERT INTO snippets (task_id, words, beside, vector) VALUES (:task, :words, :beside, :vector)
    ON CONFLICT (task_id) DO UPDATE
   SET words = :words, beside = :beside, vector = COALESCE(:vector, snippets.vector);

-- name: delete_snippet
DELETE FROM snippets WHERE task_id = :task;

-- name: delete_snippets
-- The index is to be made anew.
DELETE FROM snippets;

-- name: count_snippets
-- How many tasks the index holds, and how many there are.
SELECT (SELECT COUNT(*) FROM snippets) AS held,
       (SELECT COUNT(*) FROM tasks WHERE deleted_at IS NULL) AS tasks;

-- name: has_snippets
SELECT 1 AS held FROM snippets LIMIT 1;

-- name: list_vectors
-- The vectors of the index in this process, by the ids of their tasks; after one, some more.
SELECT snippets.task_id, tasks.session_id, tasks.taint, tasks.status, snippets.vector
  FROM snippets JOIN tasks ON tasks.id = snippets.task_id
 WHERE snippets.task_id > :after AND snippets.vector IS NOT NULL
 ORDER BY snippets.task_id LIMIT :limit;

-- name: list_tasks_by_words
-- Tasks that hold any of these words, the best first. Few words and rare ones are asked for: each
-- task that holds one of them is looked at.
SELECT tasks.id FROM tasks_text CROSS JOIN tasks ON tasks.no = tasks_text.rowid
 WHERE tasks_text MATCH :text AND tasks.deleted_at IS NULL
 ORDER BY bm25(tasks_text, 2.0, 1.0, 0.5) LIMIT :limit;

-- name: highest_task
SELECT MAX(no) AS highest FROM tasks;

-- name: list_words_by_id
-- What the index reads of tasks, and what it has read of them before.
SELECT tasks.id, type, title, instructions, status, source_kind, source_ref, created_at, updated_at,
       deleted_at, created_by, session_id, series_id, retry_of, taint,
       details ->> 'context' AS context, snippets.words, snippets.beside
  FROM tasks LEFT JOIN snippets ON snippets.task_id = tasks.id
 WHERE tasks.id IN (SELECT value FROM json_each(:tasks));
