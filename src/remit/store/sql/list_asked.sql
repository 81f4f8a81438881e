-- The open questions about the tasks of a conversation, oldest first.
SELECT * FROM reviews
 WHERE decided_at IS NULL
   AND task_id IN (SELECT task_id FROM mentions WHERE conversation_id = :conversation)
 ORDER BY opened_at, id;
