-- The end of a leg: state, lease and outcome in one guarded write.
UPDATE tasks
   SET status = :to, reason = :reason, resume_to = :resume_to,
       due_at = CASE WHEN wish IS NULL OR :settles OR :to = 'needs_review' THEN :due_at ELSE :now END,
       worker = NULL, run_id = NULL, leg_at = NULL,
       wish = CASE WHEN :settles THEN NULL ELSE wish END,
       deleted_at = CASE WHEN wish = 'delete' AND :completed_at IS NOT NULL THEN :now END,
       attempts = :attempts, round = :round, crashes = 0,
       completed_at = COALESCE(completed_at, :completed_at),
       result_summary = COALESCE(:summary, result_summary),
       details = COALESCE(:details, details),
       taint = COALESCE(:details ->> '$.taint', taint),
       events = events + 1, updated_at = :now
 WHERE id = :id AND status = :was AND lease = :lease AND worker IS NOT NULL
RETURNING events;
