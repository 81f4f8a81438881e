SELECT MIN(due_at) AS due_at FROM tasks WHERE queue = :queue AND due_at > :now;
