-- How many tasks the index holds, and how many there are.
SELECT (SELECT COUNT(*) FROM snippets) AS held,
       (SELECT COUNT(*) FROM tasks WHERE deleted_at IS NULL) AS tasks;
