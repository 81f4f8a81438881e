UPDATE reviews
   SET decided_at = :now, answer = 'decline', answer_text = NULL, decided_by = 'owner'
 WHERE task_id = :task AND decided_at IS NULL;
