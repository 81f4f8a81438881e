-- Due tasks of which a message may be out. They only need a look or a question, so they go first.
SELECT * FROM tasks INDEXED BY tasks_by_status
 WHERE status = 'delivering' AND due_at <= :now
   AND EXISTS (
     SELECT 1 FROM deliveries
      WHERE task_id = tasks.id AND (deliveries.status = 'sending' OR deliveries.status = 'unknown'))
   AND NOT EXISTS (
     SELECT 1 FROM tasks AS other
      WHERE other.session_id = tasks.session_id AND other.worker IS NOT NULL)
 ORDER BY no
 LIMIT :limit;
