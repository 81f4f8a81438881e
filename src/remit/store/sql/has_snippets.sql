SELECT 1 AS held FROM snippets LIMIT 1;
