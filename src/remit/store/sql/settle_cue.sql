UPDATE inbound SET fate = :fate, why = :why, task_id = :task
 WHERE ref = :ref AND fate IN ('waiting', 'ignored', 'over');
