SELECT turns.* FROM turns JOIN conversations ON conversations.id = turns.conversation_id
 WHERE turns.role = 'user' AND turns.said_at > :since AND conversations.deleted_at IS NULL
 ORDER BY turns.said_at DESC, turns.n DESC LIMIT 1;
