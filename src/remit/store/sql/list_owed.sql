SELECT turns.* FROM turns JOIN conversations ON conversations.id = turns.conversation_id
 WHERE turns.owed = 1 AND conversations.deleted_at IS NULL
 ORDER BY turns.said_at, turns.conversation_id, turns.n;
