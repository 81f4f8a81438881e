SELECT * FROM tasks
 WHERE assigned_agent = :agent AND deleted_at IS NULL ORDER BY no DESC LIMIT :most;
