-- The newest first; of a task that is deleted nothing is shown.
SELECT notices.* FROM notices LEFT JOIN tasks ON tasks.id = notices.task_id
 WHERE notices.no < :before AND tasks.deleted_at IS NULL
 ORDER BY notices.no DESC LIMIT :limit;
