UPDATE notices
   SET state = :state, due_at = NULL, why = :why, receipt = :receipt, body = NULL,
       told_at = CASE :state WHEN 'sent' THEN COALESCE(told_at, :now) ELSE told_at END
 WHERE id = :id;
