SELECT * FROM deliveries
 WHERE task_id IN (SELECT value FROM json_each(:tasks))
 ORDER BY task_id, n, part;
