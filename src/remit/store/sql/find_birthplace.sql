-- Where a task was born, or else where it was first spoken of.
SELECT conversations.*, mentions.action = 'created' AS born
  FROM mentions JOIN conversations ON conversations.id = mentions.conversation_id
 WHERE mentions.task_id = :task AND conversations.deleted_at IS NULL
 ORDER BY born DESC, conversations.created_at, conversations.id LIMIT 1;
