-- name: resume_task
UPDATE tasks
   SET status = :to, reason = NULL, resume_to = CASE WHEN :to = 'paused' THEN resume_to END,
       due_at = :due_at,
       deleted_at = CASE WHEN wish = 'delete' AND :to = 'cancelled' THEN CAST(:now AS BIGINT) END,
       wish = CASE WHEN :to = 'cancelled' THEN NULL ELSE COALESCE(wish, :wish) END,
       round = round + CAST(:back AS BIGINT), attempts = 0, crashes = 0,
       completed_at = COALESCE(completed_at, :completed_at),
       details = CASE WHEN CAST(:said AS TEXT) IS NULL THEN details
         ELSE json_set(details, '$.notes', array_to_json(array_append(
           ARRAY(SELECT json_array_elements(COALESCE(details -> 'notes', '[]'))),
           to_json(CAST(:said AS TEXT))))) END,
       events = events + 1, updated_at = :now
 WHERE id = :id AND status = :was AND worker IS NULL
RETURNING events;
