UPDATE reviews
   SET decided_at = :now, answer = :answer, answer_text = :text, decided_by = :by
 WHERE id = :id AND decided_at IS NULL;
