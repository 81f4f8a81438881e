UPDATE notices
   SET state = CASE state WHEN 'new' THEN 'dropped' ELSE 'unknown' END, due_at = NULL, why = :why
 WHERE state = 'new' OR state = 'claimed';
