-- Which of these wait for an answer of the owner.
SELECT DISTINCT task_id FROM reviews
 WHERE task_id IN (SELECT value FROM json_each(:tasks)) AND decided_at IS NULL;
