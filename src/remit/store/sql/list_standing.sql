-- The newest tasks that stand somewhere.
SELECT * FROM tasks WHERE status = :status AND deleted_at IS NULL ORDER BY no DESC LIMIT :limit;
