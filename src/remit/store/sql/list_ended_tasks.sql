-- What ended so between two moments and had been planned for a time.
SELECT * FROM tasks INDEXED BY tasks_ended
 WHERE status = :status AND completed_at >= :since AND completed_at < :until
   AND scheduled_for IS NOT NULL AND deleted_at IS NULL
 ORDER BY completed_at LIMIT :limit;
