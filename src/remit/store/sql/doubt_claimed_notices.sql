UPDATE notices SET state = 'unknown', due_at = :now, why = :why WHERE state = 'claimed';
