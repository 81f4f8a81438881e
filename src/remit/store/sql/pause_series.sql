UPDATE series SET paused_at = :now, due_at = NULL
 WHERE id = :id AND ended_at IS NULL AND paused_at IS NULL;
