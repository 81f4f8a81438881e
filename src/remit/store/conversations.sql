-- name: begin_conversation
INSERT INTO conversations (id, title, created_at, updated_at, channel)
VALUES (:id, :title, :now, :now, :channel)
ON CONFLICT (id) DO NOTHING;

-- name: get_conversation
SELECT * FROM conversations WHERE id = :id AND deleted_at IS NULL;

-- name: list_conversations
-- The latest first. The first half of the condition lets SQLite begin in the index.
SELECT * FROM conversations
 WHERE deleted_at IS NULL AND updated_at <= :at AND (updated_at < :at OR id < :id)
 ORDER BY updated_at DESC, id DESC
 LIMIT :limit;

-- name: rename_conversation
UPDATE conversations SET title = :title WHERE id = :id AND deleted_at IS NULL;

-- name: delete_conversation
UPDATE conversations SET deleted_at = :now WHERE id = :id AND deleted_at IS NULL;

-- name: get_turn_by_key
SELECT * FROM turns WHERE key = :key;

-- name: mark_turn_answered
UPDATE turns SET owed = 0 WHERE conversation_id = :conversation AND n = :n AND owed = 1;

-- name: set_turn_meaning
UPDATE turns SET details = json_set(details, '$.meant', json(:meant))
 WHERE conversation_id = :conversation AND n = :n AND owed = 1;

-- name: list_unanswered_turns
SELECT turns.* FROM turns JOIN conversations ON conversations.id = turns.conversation_id
 WHERE turns.owed = 1 AND conversations.deleted_at IS NULL
 ORDER BY turns.said_at, turns.conversation_id, turns.n;

-- name: get_turn
SELECT * FROM turns WHERE conversation_id = :conversation AND n = :n;

-- name: list_turns
-- The newest that come before a place; 0 is no place.
SELECT * FROM turns
 WHERE conversation_id = :conversation AND (:before = 0 OR n < :before)
 ORDER BY n DESC LIMIT :limit;

-- name: touch_conversation
UPDATE conversations SET updated_at = CASE WHEN updated_at < :now THEN :now ELSE updated_at END
 WHERE id = :id AND deleted_at IS NULL
RETURNING (SELECT COALESCE(MAX(n), 0) + 1 FROM turns WHERE conversation_id = :id) AS n;

-- name: append_turn
INSERT INTO turns (conversation_id, n, role, content, said_at, task_id, task_action,
                   channel, key, answers, owed, details)
VALUES (:conversation, :n, :role, :content, :now, :task, :action,
        :channel, :key, :answers, :owed, :details);

-- name: insert_mention
INSERT INTO mentions (conversation_id, n, task_id, action)
VALUES (:conversation, :n, :task, :action);

-- name: list_mentioned
-- The tasks that a conversation is about, the one that was spoken of last first.
SELECT task_id, MAX(n) AS last FROM mentions
 WHERE conversation_id = :conversation
 GROUP BY task_id ORDER BY last DESC, task_id DESC LIMIT :limit;

-- name: list_conversation_reviews
-- The open questions about the tasks of a conversation, oldest first.
SELECT * FROM reviews
 WHERE decided_at IS NULL
   AND task_id IN (SELECT task_id FROM mentions WHERE conversation_id = :conversation)
 ORDER BY opened_at, id;

-- name: find_first_conversation
-- Where a task was born, or else where it was first spoken of.
SELECT conversations.*, mentions.action = 'created' AS born
  FROM mentions JOIN conversations ON conversations.id = mentions.conversation_id
 WHERE mentions.task_id = :task AND conversations.deleted_at IS NULL
 ORDER BY born DESC, conversations.created_at, conversations.id LIMIT 1;

-- name: find_conversation_by_title
SELECT * FROM conversations WHERE title = :title AND deleted_at IS NULL ORDER BY created_at, id LIMIT 1;

-- name: find_conversation_by_channel
SELECT * FROM conversations WHERE deleted_at IS NULL AND channel = :channel
 ORDER BY updated_at DESC, id DESC LIMIT 1;

-- name: last_owner_turn
SELECT turns.* FROM turns JOIN conversations ON conversations.id = turns.conversation_id
 WHERE turns.role = 'user' AND turns.said_at > :since AND conversations.deleted_at IS NULL
 ORDER BY turns.said_at DESC, turns.n DESC LIMIT 1;

-- name: list_tasks_by_status
-- The newest tasks that stand somewhere.
SELECT * FROM tasks WHERE status = :status AND deleted_at IS NULL ORDER BY no DESC LIMIT :limit;

-- name: list_mentions
SELECT * FROM mentions
 WHERE conversation_id = :conversation AND n BETWEEN :first AND :last
 ORDER BY n, task_id;
