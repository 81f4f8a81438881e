-- It goes on with the next slot; those that came meanwhile are passed over.
UPDATE series SET paused_at = NULL, last_at = :last_at, due_at = :last_at
 WHERE id = :id AND ended_at IS NULL AND paused_at IS NOT NULL;
