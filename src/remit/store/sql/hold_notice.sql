UPDATE notices SET due_at = :due, held = 1 WHERE id = :id AND state = 'new';
