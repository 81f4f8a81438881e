SELECT 1 FROM tasks WHERE queue = :queue AND due_at <= :now LIMIT 1;
