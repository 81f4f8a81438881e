UPDATE tasks
   SET status = :to, reason = NULL, resume_to = CASE WHEN :to = 'paused' THEN resume_to END,
       due_at = :due_at,
       deleted_at = CASE WHEN wish = 'delete' AND :to = 'cancelled' THEN :now END,
       wish = CASE WHEN :to = 'cancelled' THEN NULL ELSE COALESCE(wish, :wish) END,
       round = round + :back, attempts = 0, crashes = 0,
       completed_at = COALESCE(completed_at, :completed_at),
       details = CASE WHEN :said IS NULL THEN details ELSE json_set(details, '$.notes',
         json_insert(COALESCE(details -> '$.notes', json('[]')), '$[#]', :said)) END,
       events = events + 1, updated_at = :now
 WHERE id = :id AND status = :was AND worker IS NULL
RETURNING events;
