-- The other tasks of a session, newest first, however they stand.
SELECT * FROM tasks
WHERE session_id = :session AND id <> :task
ORDER BY no DESC LIMIT :limit;
