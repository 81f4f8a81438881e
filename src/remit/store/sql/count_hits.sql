-- How many tasks hold these words, up to a number.
SELECT COUNT(*) AS hits FROM (SELECT 1 FROM tasks_text WHERE tasks_text MATCH :text LIMIT :most);
