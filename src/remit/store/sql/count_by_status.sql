SELECT status, COUNT(*) AS tasks FROM tasks WHERE deleted_at IS NULL GROUP BY status;
