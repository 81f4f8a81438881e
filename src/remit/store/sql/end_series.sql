UPDATE series SET due_at = NULL, ended_at = :now, why = :why WHERE id = :id AND ended_at IS NULL;
