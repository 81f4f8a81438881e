-- Tasks that the index has not read, the newest first; below a number, for the next handful.
SELECT tasks.no, tasks.id FROM tasks LEFT JOIN snippets ON snippets.task_id = tasks.id
 WHERE tasks.no < :below AND tasks.deleted_at IS NULL AND snippets.task_id IS NULL
 ORDER BY tasks.no DESC LIMIT :limit;
