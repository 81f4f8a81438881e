SELECT * FROM tasks
 WHERE session_id = :session AND status = 'completed'
 ORDER BY no DESC LIMIT :limit;
