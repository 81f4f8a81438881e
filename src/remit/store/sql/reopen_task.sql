UPDATE tasks
   SET status = 'needs_review', reason = :reason, resume_to = :resume_to, due_at = NULL,
       events = events + 1, updated_at = :now
 WHERE id = :id AND status = 'delivering' AND worker IS NULL
RETURNING events;
