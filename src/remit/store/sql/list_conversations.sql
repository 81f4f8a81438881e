-- The latest first. The first half of the condition lets SQLite begin in the index.
SELECT * FROM conversations
 WHERE deleted_at IS NULL AND updated_at <= :at AND (updated_at < :at OR id < :id)
 ORDER BY updated_at DESC, id DESC
 LIMIT :limit;
