SELECT COUNT(*) AS tasks FROM tasks INDEXED BY tasks_deleted
 WHERE status = :status AND deleted_at IS NOT NULL;
