UPDATE reviews SET later_until = :now
 WHERE decided_at IS NULL AND later_until > :now
   AND EXISTS (SELECT 1 FROM tasks WHERE id = reviews.task_id AND updated_at > :ahead);
