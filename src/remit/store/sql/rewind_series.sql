UPDATE series SET last_at = :reached, due_at = :reached, ended_at = NULL, why = NULL
 WHERE id = :series AND paused_at IS NULL;
