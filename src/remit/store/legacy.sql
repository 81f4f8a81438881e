-- name: set_imported_task_status
-- A task of an older installation goes again where it once went; its time is over.
UPDATE tasks
   SET status = :to, resume_to = :resume_to, queue = CASE WHEN :to = 'ready' THEN 0 ELSE queue END,
       due_at = NULL, started_at = COALESCE(:started_at, started_at),
       completed_at = :completed_at, events = events + 1, updated_at = :now
 WHERE id = :id
RETURNING events;

-- name: insert_conversation
INSERT INTO conversations (id, title, created_at, origin, updated_at)
VALUES (:id, :title, :now, :origin, COALESCE(
  (SELECT MAX(said_at) FROM turns WHERE conversation_id = :id HAVING MAX(said_at) > :now), :now));

-- name: insert_turn
INSERT INTO turns (conversation_id, n, role, content, said_at, task_id, task_action)
VALUES (:conversation, :n, :role, :content, :now, :task, :action);
