SELECT * FROM tasks
 WHERE id IN (SELECT value FROM json_each(:tasks)) AND deleted_at IS NULL;
