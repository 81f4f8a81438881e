UPDATE reviews
   SET decided_at = :now, answer = 'decline', decided_by = 'owner'
 WHERE task_id = :task AND decided_at IS NULL;
