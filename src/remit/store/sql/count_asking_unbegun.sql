SELECT COUNT(DISTINCT task_id) AS tasks FROM reviews
 WHERE decided_at IS NULL
   AND (SELECT status FROM tasks WHERE tasks.id = reviews.task_id) = 'new';
