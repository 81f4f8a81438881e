-- What ended in a span of time, the latest first.
SELECT * FROM tasks
 WHERE status IN ('completed', 'failed', 'cancelled')
   AND completed_at >= :since AND completed_at <= :until AND deleted_at IS NULL
 ORDER BY completed_at DESC, no DESC LIMIT :limit;
