-- What a session has sent, newest first.
SELECT tasks.id, tasks.taint, deliveries.body, deliveries.sent_at
  FROM tasks CROSS JOIN deliveries ON deliveries.task_id = tasks.id
 WHERE tasks.session_id = :session AND tasks.id <> :task AND tasks.deleted_at IS NULL
   AND deliveries.status = 'sent' AND deliveries.body IS NOT NULL AND deliveries.sent_at IS NOT NULL
 ORDER BY tasks.no DESC
 LIMIT :limit;
