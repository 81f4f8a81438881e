-- When the journal began, and the latest time in what was written last.
SELECT (SELECT at FROM events ORDER BY seq LIMIT 1) AS first_at,
       (SELECT MAX(at) FROM (SELECT at FROM events ORDER BY seq DESC LIMIT 2000)) AS last_at;
