-- What the owner had written stays with the question, for him alone.
UPDATE reviews
   SET decided_at = NULL, answer = NULL, answer_text = COALESCE(answer_text, ''),
       decided_by = NULL, later_until = NULL
 WHERE id = :id AND decided_at IS NOT NULL;
