UPDATE notices SET state = 'dropped', due_at = NULL, why = :why WHERE id = :id AND state = 'new';
