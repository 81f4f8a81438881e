-- The tasks that a conversation is about, the one that was spoken of last first.
SELECT task_id, MAX(n) AS last FROM mentions
 WHERE conversation_id = :conversation
 GROUP BY task_id ORDER BY last DESC, task_id DESC LIMIT :limit;
