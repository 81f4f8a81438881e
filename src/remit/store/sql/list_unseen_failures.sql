-- What failed of late and was not acknowledged.
SELECT * FROM tasks INDEXED BY tasks_ended
 WHERE status = 'failed' AND completed_at >= :since AND seen_at IS NULL AND deleted_at IS NULL
 ORDER BY completed_at DESC LIMIT :limit;
