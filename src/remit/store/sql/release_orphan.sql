UPDATE tasks
   SET status = :to, reason = :reason, resume_to = :resume_to, due_at = :due_at,
       worker = NULL, run_id = NULL, leg_at = NULL, lease = lease + 1, crashes = crashes + 1,
       wish = CASE WHEN :to = 'needs_review' THEN NULL ELSE wish END,
       events = events + 1, updated_at = :now
 WHERE id = :id AND worker = :worker
RETURNING events;
