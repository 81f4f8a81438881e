SELECT * FROM resources WHERE why IS NOT NULL ORDER BY account, calendar, path LIMIT :limit;
