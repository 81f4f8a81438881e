-- How some tasks stand, by their names.
SELECT id, title, status, wish, worker, deleted_at FROM tasks
 WHERE id IN (SELECT value FROM json_each(:tasks));
